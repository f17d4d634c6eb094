/*
 * Set: open counters. Reading: what one read of them gave, an object with its numbers inside it, so that a read costs
 * one allocation. Estimate: totals that never go backwards.
 */
#include "native.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct reading {
    PyObject_VAR_HEAD PyObject *set; /* whose events they are */
    uint64_t time;                   /* CLOCK_MONOTONIC, or of a difference how long, ns */
    Py_ssize_t shape[2];             /* for the buffer: events, 3 */
    struct rk_value value[];         /* … and behind them a byte for each event: see idle() */
};

/* 1: of a difference, the event was counted until then, and in that time nobody wanted it, since the target did not run:
 * the count is 0, and known. */
static unsigned char *idle(struct reading *r)
{
    return (unsigned char *)&r->value[r->shape[0]];
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- Set ------------------------------------------------------------------------------------------------- */

/* What a dictionary of options may name. */
static const struct {
    const char *name;
    uint32_t offset, size;
} fields[] = {
#define FIELD(f)                                                                        \
    {                                                                                   \
#f, offsetof(struct rk_set_options, f), sizeof(((struct rk_set_options *)0)->f) \
    }
    FIELD(keep),      FIELD(exact),         FIELD(no_inherit),   FIELD(enabled),        FIELD(no_user_read),
    FIELD(records),   FIELD(max_stack),     FIELD(period),       FIELD(frequency),      FIELD(sample),
    FIELD(regs_user), FIELD(stack_user),    FIELD(ring_bytes),   FIELD(wakeup_bytes),   FIELD(wakeup_samples),
    FIELD(overwrite), FIELD(chain_without), FIELD(clock_set),    FIELD(clock),          FIELD(exclude),
    FIELD(pinned),    FIELD(exclusive),     FIELD(threads_only), FIELD(enable_on_exec), FIELD(remove_on_exec),
    FIELD(freeze),
#undef FIELD
};

static int take_option(struct rk_set_options *options, PyObject *name, PyObject *value)
{
    const char *word = PyUnicode_AsUTF8AndSize(name, NULL);
    unsigned long long number = PyLong_AsUnsignedLongLongMask(value);

    if (!word || PyErr_Occurred())
        return -1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, word) == 0) {
            uint64_t wide = number;
            uint32_t narrow = (uint32_t)number;
            memcpy((char *)options + fields[i].offset, fields[i].size == 8 ? (void *)&wide : (void *)&narrow,
                   fields[i].size);
            return 0;
        }
    PyErr_Format(PyExc_TypeError, "no such option: %s", word);
    return -1;
}

static int take_options(struct rk_set_options *options, PyObject *dict)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;

    while (PyDict_Next(dict, &at, &name, &value))
        if (take_option(options, name, value) < 0)
            return -1;
    return 0;
}

/* Names, units and scales of the events as they were opened. */
static int describe(struct set *self)
{
    self->n = (Py_ssize_t)rk_set_events(self->handle);
    self->names = PyTuple_New(self->n);
    self->units = PyTuple_New(self->n);
    self->scales = PyTuple_New(self->n);
    if (!self->names || !self->units || !self->scales)
        return -1;
    for (Py_ssize_t i = 0; i < self->n; i++) {
        struct rk_event event = {.size = sizeof event};
        rk_set_event(self->handle, (size_t)i, &event);
        PyObject *name = text(event.name), *unit = text(event.unit), *scale = PyFloat_FromDouble(event.scale);
        if (!name || !unit || !scale) {
            Py_XDECREF(name);
            Py_XDECREF(unit);
            Py_XDECREF(scale);
            return -1;
        }
        PyTuple_SetItem(self->names, i, name);
        PyTuple_SetItem(self->units, i, unit);
        PyTuple_SetItem(self->scales, i, scale);
    }
    return 0;
}

/* Set(host, events, target, options, reading) */
static PyObject *set_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct rk_set_options options = {.size = sizeof options};
    struct rk_error e = {.size = sizeof e};
    struct state *state = state_of_type(type);
    struct rk_events *events = NULL;
    PyObject *host, *target, *dict, *reading;
    const char *names;

    if (kwargs && PyDict_Size(kwargs))
        return PyErr_Format(PyExc_TypeError, "Set takes no keywords");
    if (!PyArg_ParseTuple(args, "O!sO!O!O!", state->host, &host, &names, state->target, &target, &PyDict_Type,
                          &dict, &PyType_Type, &reading))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)reading, state->reading))
        return PyErr_Format(PyExc_TypeError, "reading is no kind of Reading");
    if (((struct target *)target)->busy)
        return raise_busy("target");
    if (!((struct target *)target)->handle)
        return raise_closed("target");
    if (take_options(&options, dict) < 0)
        return NULL;
    struct rk_host *h = ((struct host *)host)->handle;
    int rc = rk_events_parse(h, names, &events, &e);
    if (rc < 0)
        return raise_error(state, rc, &e);
    struct set *self = make(type);
    rc = self ? rk_set_open(h, events, ((struct target *)target)->handle, &options, &self->handle, &e) : 0;
    rk_events_free(events);
    if (!self)
        return NULL;
    if (rc < 0) {
        raise_error(state, rc, &e);
        Py_DECREF(self);
        return NULL;
    }
    Py_INCREF(host);
    Py_INCREF(reading);
    self->host = host;
    self->reading = (PyTypeObject *)reading;
    if (describe(self) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void set_dealloc(PyObject *o)
{
    struct set *self = (struct set *)o;

    rk_set_close(self->handle);
    Py_XDECREF(self->host);
    Py_XDECREF(self->names);
    Py_XDECREF(self->units);
    Py_XDECREF(self->scales);
    Py_XDECREF((PyObject *)self->reading);
    unmake(o);
}

static struct rk_set *usable(PyObject *o)
{
    struct set *self = (struct set *)o;

    if (self->busy) {
        raise_busy("set of counters");
        return NULL;
    }
    if (!self->handle)
        raise_closed("set of counters");
    return self->handle;
}

static PyObject *done(PyObject *o, int rc)
{
    if (rc < 0)
        return raise_error(state_of(o), rc, NULL);
    Py_RETURN_NONE;
}

static PyObject *set_enable(PyObject *o, PyObject *unused)
{
    struct rk_set *set = usable(o);

    (void)unused;
    return set ? done(o, rk_set_enable(set)) : NULL;
}

static PyObject *set_disable(PyObject *o, PyObject *unused)
{
    struct rk_set *set = usable(o);

    (void)unused;
    return set ? done(o, rk_set_disable(set)) : NULL;
}

static PyObject *set_refresh(PyObject *o, PyObject *unused)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set *set = usable(o);
    int rc = set ? rk_set_refresh(set, &e) : -1;

    (void)unused;
    if (!set)
        return NULL;
    return rc < 0 ? raise_error(state_of(o), rc, &e) : PyLong_FromLong(rc);
}

static struct reading *reading_make(PyTypeObject *type, PyObject *set, Py_ssize_t n)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct reading *r = (struct reading *)alloc(type, n + (n + 23) / 24); /* zeroed */

    if (r) {
        Py_INCREF(set);
        r->set = set;
        r->shape[0] = n, r->shape[1] = 3;
    }
    return r;
}

/* Hot: one allocation around the library's call. */
static PyObject *set_read(PyObject *o, PyObject *unused)
{
    struct set *self = (struct set *)o;
    struct rk_set *set = self->handle;

    (void)unused;
    if (!set || self->busy)
        return set ? raise_busy("set of counters") : raise_closed("set of counters");
    struct reading *r = reading_make(self->reading, o, self->n);
    if (!r)
        return NULL;
    r->time = now_ns();
    int rc = rk_set_total(set, r->value, (size_t)self->n);
    if (rc < 0) {
        Py_DECREF(r);
        return raise_error(state_of(o), rc, NULL);
    }
    return (PyObject *)r;
}

static PyObject *set_read_slot(PyObject *o, PyObject *args)
{
    struct set *self = (struct set *)o;
    struct rk_set *set = usable(o);
    Py_ssize_t slot;

    if (!set || !PyArg_ParseTuple(args, "n", &slot))
        return NULL;
    if (slot < 0 || (size_t)slot >= rk_set_slots(set))
        return PyErr_Format(PyExc_IndexError, "there are %zd slots", (Py_ssize_t)rk_set_slots(set));
    struct reading *r = reading_make(self->reading, o, self->n);
    if (!r)
        return NULL;
    r->time = now_ns();
    int rc = rk_set_read(set, (size_t)slot, r->value, (size_t)self->n);
    if (rc < 0) {
        Py_DECREF(r);
        return raise_error(state_of(o), rc, NULL);
    }
    return (PyObject *)r;
}

static PyObject *set_slots(PyObject *o, PyObject *unused)
{
    struct rk_set *set = usable(o);
    PyObject *list = set ? PyList_New(0) : NULL;

    (void)unused;
    for (size_t i = 0; list && i < rk_set_slots(set); i++) {
        int32_t pid = -1, cpu = -1;
        rk_set_slot(set, i, &pid, &cpu);
        PyObject *row = Py_BuildValue("iiN", (int)pid, (int)cpu, text(rk_set_slot_cgroup(set, i)));
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* notes(): [(event or None, cause, absent, what, remedy)] */
static PyObject *set_notes(PyObject *o, PyObject *unused)
{
    struct rk_set *set = usable(o);
    PyObject *list = set ? PyList_New(0) : NULL;

    (void)unused;
    for (size_t i = 0; list && i < rk_set_notes(set); i++) {
        struct rk_note n = {.size = sizeof n};
        rk_set_note(set, i, &n);
        PyObject *event = n.event == UINT32_MAX ? text(NULL) : PyLong_FromUnsignedLong(n.event);
        PyObject *row = Py_BuildValue("NsNNN", event, rk_cause_name(n.cause), PyBool_FromLong((long)n.absent),
                                      text(n.what), text(n.remedy));
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* explain(event): an Error that says why it was not counted, or None: it was */
static PyObject *set_explain(PyObject *o, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set *set = usable(o);
    Py_ssize_t event;

    if (!set || !PyArg_ParseTuple(args, "n", &event))
        return NULL;
    if (event < 0 || event >= ((struct set *)o)->n)
        return PyErr_Format(PyExc_IndexError, "there are %zd events", ((struct set *)o)->n);
    if (rk_set_explain(set, SIZE_MAX, (size_t)event, &e) < 0)
        Py_RETURN_NONE;
    return PyObject_CallFunction(state_of(o)->fail, "iNNssNI", -(int)e.code, text(e.what), text(e.event),
                                 rk_cause_name(e.cause), rk_stage_name(e.stage), text(e.remedy), 0u);
}

static PyObject *set_lost(PyObject *o, PyObject *args)
{
    struct rk_set *set = usable(o);
    Py_ssize_t event;
    uint64_t lost;

    if (!set || !PyArg_ParseTuple(args, "n", &event))
        return NULL;
    int rc = rk_set_lost(set, (size_t)event, &lost);
    return rc < 0 ? raise_error(state_of(o), rc, NULL) : PyLong_FromUnsignedLongLong(lost);
}

/* metrics(reading, wall_ns): (name, value, unit) or None for each event */
static PyObject *set_metrics(PyObject *o, PyObject *args)
{
    struct set *self = (struct set *)o;
    struct rk_set *set = usable(o);
    unsigned long long wall;
    PyObject *of, *all;

    if (!set || !PyArg_ParseTuple(args, "O!K", state_of(o)->reading, &of, &wall))
        return NULL;
    if (((struct reading *)of)->shape[0] != self->n)
        return PyErr_Format(PyExc_ValueError, "a reading of other events");
    all = PyTuple_New(self->n);
    for (Py_ssize_t i = 0; all && i < self->n; i++) {
        struct rk_metric m = {.size = sizeof m};
        int rc = rk_metric_derive(set, ((struct reading *)of)->value, (size_t)self->n, wall, (size_t)i, &m);
        PyObject *row = rc == 1 ? Py_BuildValue("sds", m.name, m.value, m.unit) : text(NULL);
        if (!row || PyTuple_SetItem(all, i, row) < 0)
            Py_CLEAR(all);
    }
    return all;
}

static PyObject *set_close(PyObject *o, PyObject *unused)
{
    struct set *self = (struct set *)o;

    (void)unused;
    if (self->users)
        return PyErr_Format(PyExc_RuntimeError, "a stream or a recording reads this set: close that first");
    self->handle = rk_set_close(self->handle);
    Py_RETURN_NONE;
}

static PyObject *borrowed(PyObject *o)
{
    Py_INCREF(o);
    return o;
}

static PyObject *set_names(PyObject *o, void *unused)
{
    (void)unused;
    return borrowed(((struct set *)o)->names);
}

static PyObject *set_units(PyObject *o, void *unused)
{
    (void)unused;
    return borrowed(((struct set *)o)->units);
}

static PyObject *set_scales(PyObject *o, void *unused)
{
    (void)unused;
    return borrowed(((struct set *)o)->scales);
}

static PyObject *set_closed(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((struct set *)o)->handle);
}

static PyMethodDef set_methods[] = {
    {"enable", set_enable, METH_NOARGS, "Starts counting."},
    {"disable", set_disable, METH_NOARGS, "Stops counting."},
    {"refresh", set_refresh, METH_NOARGS, "Follows CPUs that came or went; how many."},
    {"read", set_read, METH_NOARGS, "A Reading of all events, summed over all slots."},
    {"read_slot", set_read_slot, METH_VARARGS, "read_slot(i): a Reading of one."},
    {"slots", set_slots, METH_NOARGS, "[(pid, cpu, cgroup)]"},
    {"notes", set_notes, METH_NOARGS, "[(event, cause, absent, what, remedy)]"},
    {"explain", set_explain, METH_VARARGS, "explain(i): why it was not counted, an Error, or None."},
    {"lost", set_lost, METH_VARARGS, "lost(i): samples that were dropped."},
    {"metrics", set_metrics, METH_VARARGS,
     "metrics(reading, wall_ns): (name, value, unit) or None for each."},
    {"close", set_close, METH_NOARGS, "Closes the counters."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef set_properties[] = {
    {"names", set_names, NULL, "The events' names.", NULL},
    {"units", set_units, NULL, "Their units, '' for plain counts.", NULL},
    {"scales", set_scales, NULL, "A count times this is in its unit.", NULL},
    {"closed", set_closed, NULL, "Whether it was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot set_slots_[] = {
    {Py_tp_new, set_new},
    {Py_tp_dealloc, set_dealloc},
    {Py_tp_methods, set_methods},
    {Py_tp_getset, set_properties},
    {0, NULL},
};

static PyType_Spec set_spec = {
    .name = "reckon._native.Set",
    .basicsize = sizeof(struct set),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = set_slots_,
};

/* --- Reading ----------------------------------------------------------------------------------------------- */

static void reading_dealloc(PyObject *o)
{
    Py_XDECREF(((struct reading *)o)->set);
    unmake(o);
}

static PyObject *column(PyObject *o, size_t offset)
{
    struct reading *r = (struct reading *)o;
    PyObject *all = PyTuple_New(r->shape[0]);

    for (Py_ssize_t i = 0; all && i < r->shape[0]; i++) {
        uint64_t number;
        memcpy(&number, (char *)&r->value[i] + offset, sizeof number);
        PyObject *item = PyLong_FromUnsignedLongLong(number);
        if (!item || PyTuple_SetItem(all, i, item) < 0)
            Py_CLEAR(all);
    }
    return all;
}

static PyObject *reading_raw(PyObject *o, void *unused)
{
    (void)unused;
    return column(o, offsetof(struct rk_value, value));
}

static PyObject *reading_enabled(PyObject *o, void *unused)
{
    (void)unused;
    return column(o, offsetof(struct rk_value, enabled));
}

static PyObject *reading_running(PyObject *o, void *unused)
{
    (void)unused;
    return column(o, offsetof(struct rk_value, running));
}

static PyObject *reading_time(PyObject *o, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct reading *)o)->time);
}

static PyObject *reading_set(PyObject *o, void *unused)
{
    (void)unused;
    return borrowed(((struct reading *)o)->set);
}

/* estimate(event): (estimate, bound), or None where it was not counted; the event's scale is not applied */
static PyObject *reading_estimate(PyObject *o, PyObject *args)
{
    struct reading *r = (struct reading *)o;
    Py_ssize_t event;
    double bound;

    if (!PyArg_ParseTuple(args, "n", &event))
        return NULL;
    if (event < 0 || event >= r->shape[0])
        return PyErr_Format(PyExc_IndexError, "there are %zd events", r->shape[0]);
    if (idle(r)[event])
        return Py_BuildValue("id", 0, 0.0);
    double estimate = rk_value_scale(&r->value[event], NULL, &bound);
    if (isnan(estimate))
        Py_RETURN_NONE;
    if (r->value[event].running >= r->value[event].enabled)
        return Py_BuildValue("Kd", (unsigned long long)r->value[event].value, 0.0);
    return Py_BuildValue("dd", estimate, bound);
}

static int subtract(uint64_t *ret, uint64_t a, uint64_t b)
{
    *ret = a - b;
    return a < b;
}

/* later - earlier: what happened between, of the same events */
static PyObject *reading_subtract(PyObject *left, PyObject *right)
{
    PyTypeObject *type = Py_TYPE(left);

    if (type != Py_TYPE(right)) {
        Py_INCREF(Py_NotImplemented);
        return Py_NotImplemented;
    }
    struct reading *a = (struct reading *)left, *b = (struct reading *)right;
    if (a->shape[0] != b->shape[0] || a->set != b->set)
        return PyErr_Format(PyExc_ValueError, "readings of different counters");
    struct reading *r = reading_make(type, a->set, a->shape[0]);
    int backwards = r ? subtract(&r->time, a->time, b->time) : 0;
    for (Py_ssize_t i = 0; r && i < a->shape[0]; i++) {
        backwards |= subtract(&r->value[i].value, a->value[i].value, b->value[i].value);
        backwards |= subtract(&r->value[i].enabled, a->value[i].enabled, b->value[i].enabled);
        backwards |= subtract(&r->value[i].running, a->value[i].running, b->value[i].running);
        idle(r)[i] = r->value[i].enabled == 0 && (a->value[i].running > 0 || idle(a)[i]);
    }
    if (backwards) {
        Py_DECREF(r);
        return PyErr_Format(PyExc_ValueError, "the right one is not the earlier one");
    }
    return (PyObject *)r;
}

/* a + b: of two differences of the same events, what happened in both */
static PyObject *reading_add(PyObject *left, PyObject *right)
{
    PyTypeObject *type = Py_TYPE(left);

    if (type != Py_TYPE(right)) {
        Py_INCREF(Py_NotImplemented);
        return Py_NotImplemented;
    }
    struct reading *a = (struct reading *)left, *b = (struct reading *)right;
    if (a->shape[0] != b->shape[0])
        return PyErr_Format(PyExc_ValueError, "readings of different counters");
    struct reading *r = reading_make(type, a->set, a->shape[0]);
    for (Py_ssize_t i = 0; r && i < a->shape[0]; i++) {
        r->value[i] = (struct rk_value){a->value[i].value + b->value[i].value,
                                        a->value[i].enabled + b->value[i].enabled,
                                        a->value[i].running + b->value[i].running};
        idle(r)[i] = r->value[i].enabled == 0 && (idle(a)[i] || idle(b)[i]);
    }
    if (r)
        r->time = a->time + b->time;
    return (PyObject *)r;
}

static int reading_buffer(PyObject *o, Py_buffer *view, int flags)
{
    struct reading *r = (struct reading *)o;
    Py_ssize_t bytes = r->shape[0] * (Py_ssize_t)sizeof *r->value;

    if (PyBuffer_FillInfo(view, o, r->value, bytes, 1, flags) < 0)
        return -1;
    if (flags & PyBUF_FORMAT)
        view->format = "Q";
    if (flags & PyBUF_ND) {
        view->ndim = 2;
        view->itemsize = 8;
        view->shape = r->shape;
        view->strides = NULL;
    }
    return 0;
}

static PyMethodDef reading_methods[] = {
    {"estimate", reading_estimate, METH_VARARGS, "estimate(i): (estimate, bound), or None: not counted."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef reading_properties[] = {
    {"raw", reading_raw, NULL, "Counts as the kernel has them.", NULL},
    {"enabled_ns", reading_enabled, NULL, "How long each event was wanted.", NULL},
    {"running_ns", reading_running, NULL, "How long each was counted; 0: not at all.", NULL},
    {"time_ns", reading_time, NULL, "When it was read (CLOCK_MONOTONIC); of a difference, how long.", NULL},
    {"source", reading_set, NULL, "The set that was read.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot reading_slots[] = {
    {Py_tp_dealloc, reading_dealloc},
    {Py_tp_methods, reading_methods},
    {Py_tp_getset, reading_properties},
    {Py_nb_subtract, reading_subtract},
    {Py_nb_add, reading_add},
    {Py_bf_getbuffer, reading_buffer},
    {0, NULL},
};

static PyType_Spec reading_spec = {
    .name = "reckon._native.Reading",
    .basicsize = offsetof(struct reading, value),
    .itemsize = sizeof(struct rk_value),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = reading_slots,
};

/* --- Estimate ---------------------------------------------------------------------------------------------- */

struct estimate {
    PyObject_HEAD struct rk_estimate *each;
    Py_ssize_t n;
};

static PyObject *estimate_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t n;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "n", &n))
        return NULL;
    if (n < 0 || n > 1 << 20)
        return PyErr_Format(PyExc_ValueError, "a number of events");
    struct estimate *self = make(type);
    if (!self)
        return NULL;
    self->n = n;
    self->each = calloc((size_t)n + 1, sizeof *self->each);
    if (!self->each) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void estimate_dealloc(PyObject *o)
{
    free(((struct estimate *)o)->each);
    unmake(o);
}

/* add(reading): (total, bound) of each event so far; NaN until it first ran */
static PyObject *estimate_add(PyObject *o, PyObject *args)
{
    struct estimate *self = (struct estimate *)o;
    PyObject *of, *all;

    if (!PyArg_ParseTuple(args, "O!", state_of(o)->reading, &of))
        return NULL;
    struct reading *r = (struct reading *)of;
    if (r->shape[0] != self->n)
        return PyErr_Format(PyExc_ValueError, "a reading of %zd events, not %zd", r->shape[0], self->n);
    all = PyTuple_New(self->n);
    for (Py_ssize_t i = 0; all && i < self->n; i++) {
        double bound = 0, total = rk_estimate_add(&self->each[i], &r->value[i], &bound);
        PyObject *row = Py_BuildValue("dd", total, bound);
        if (!row || PyTuple_SetItem(all, i, row) < 0)
            Py_CLEAR(all);
    }
    return all;
}

static PyMethodDef estimate_methods[] = {
    {"add", estimate_add, METH_VARARGS, "add(reading): (total, bound) of each event so far."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot estimate_slots[] = {
    {Py_tp_new, estimate_new},
    {Py_tp_dealloc, estimate_dealloc},
    {Py_tp_methods, estimate_methods},
    {0, NULL},
};

static PyType_Spec estimate_spec = {
    .name = "reckon._native.Estimate",
    .basicsize = sizeof(struct estimate),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = estimate_slots,
};

int set_ready(PyObject *module, struct state *state)
{
    state->reading = add_type(module, &reading_spec);
    state->set = add_type(module, &set_spec);
    state->estimate = add_type(module, &estimate_spec);
    return state->reading && state->set && state->estimate ? 0 : -1;
}
