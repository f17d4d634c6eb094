/* Set: open counters. */
#include "native.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a dictionary of options may name: members with their values, and flags, which are true or false. */
static const struct {
    const char *name;
    uint32_t offset, size;
} fields[] = {
#define FIELD(f)                                                                        \
    {                                                                                   \
#f, offsetof(struct rk_set_options, f), sizeof(((struct rk_set_options *)0)->f) \
    }
    FIELD(records),      FIELD(max_stack),      FIELD(period),     FIELD(frequency),
    FIELD(sample),       FIELD(regs_user),      FIELD(stack_user), FIELD(ring_bytes),
    FIELD(wakeup_bytes), FIELD(wakeup_samples), FIELD(clock),      FIELD(exclude),
#undef FIELD
};

static const struct {
    const char *name;
    uint32_t flag;
} flags[] = {
    {"keep", RK_SET_KEEP},
    {"exact", RK_SET_EXACT},
    {"enabled", RK_SET_ENABLED},
    {"no_user_read", RK_SET_NO_USER_READ},
    {"pinned", RK_SET_PINNED},
    {"exclusive", RK_SET_EXCLUSIVE},
    {"no_inherit", RK_SET_NO_INHERIT},
    {"threads_only", RK_SET_THREADS_ONLY},
    {"enable_on_exec", RK_SET_ENABLE_ON_EXEC},
    {"remove_on_exec", RK_SET_REMOVE_ON_EXEC},
    {"freeze", RK_SET_FREEZE},
    {"overwrite", RK_SET_OVERWRITE},
    {"clock_set", RK_SET_CLOCK},
    {"no_world", RK_SET_NO_WORLD},
    {"each", RK_SET_EACH},
};

static int take_option(struct rk_set_options *options, PyObject *name, PyObject *value)
{
    const char *word = PyUnicode_AsUTF8AndSize(name, NULL);
    unsigned long long number = PyLong_AsUnsignedLongLongMask(value);

    if (!word || PyErr_Occurred())
        return -1;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i].name, word) == 0) {
            options->flags |= number ? flags[i].flag : 0;
            return 0;
        }
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
    struct rk_slot slot = RK_INIT(slot);

    self->n = (Py_ssize_t)rk_set_event_count(self->handle);
    self->on_cpus = rk_set_slot_get(self->handle, 0, &slot) == 0 && slot.pid == -1;
    self->names = PyTuple_New(self->n);
    self->units = PyTuple_New(self->n);
    self->scales = PyTuple_New(self->n);
    if (!self->names || !self->units || !self->scales)
        return -1;
    if (!(self->states = calloc((size_t)self->n + 1, sizeof *self->states))) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < self->n; i++) {
        struct rk_event event = {.size = sizeof event};
        rk_set_event_get(self->handle, (size_t)i, &event);
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
    int rc = (options.flags & RK_SET_KEEP ? rk_events_parse_keep : rk_events_parse)(h, names, &events, &e);
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
    self->serial = state->sets++;
    self->maker = getpid();
    if (describe(self) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void set_dealloc(PyObject *o)
{
    struct set *self = (struct set *)o;

    rk_set_free(self->handle);
    Py_XDECREF(self->host);
    Py_XDECREF(self->names);
    Py_XDECREF(self->units);
    Py_XDECREF(self->scales);
    free(self->states);
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
    int rc;

    (void)unused;
    if (!set)
        return NULL;
    if (!((struct set *)o)->users)
        return done(o, rk_set_enable(set));
    ((struct set *)o)->busy = 1; /* its stream may begin with all that runs */
    Py_BEGIN_ALLOW_THREADS rc = rk_set_enable(set);
    Py_END_ALLOW_THREADS((struct set *)o)->busy = 0;
    return done(o, rc);
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
    int rc = rk_set_total(set, r->value, self->states, (size_t)self->n);
    if (rc < 0) {
        Py_DECREF(r);
        return raise_error(state_of(o), rc, NULL);
    }
    reading_states(r, self->states);
    return (PyObject *)r;
}

/* read_with(other): a Reading of each, of one instant */
static PyObject *set_read_with(PyObject *o, PyObject *args)
{
    struct set *of[2] = {(struct set *)o, NULL};
    PyObject *other;

    if (!usable(o) || !PyArg_ParseTuple(args, "O!", state_of(o)->set, &other) || !usable(other))
        return NULL;
    of[1] = (struct set *)other;
    struct rk_set *sets[2] = {of[0]->handle, of[1]->handle};
    size_t first = (size_t)of[0]->n, n = first + (size_t)of[1]->n;
    struct reading *r[2] = {reading_make(of[0]->reading, o, of[0]->n), NULL};
    struct rk_value *values = r[0] ? malloc(n * (sizeof *values + sizeof(uint32_t))) : NULL;
    uint32_t *states = values ? (uint32_t *)(values + n) : NULL;
    struct rk_instant when = RK_INIT(when);

    if (r[0])
        r[1] = reading_make(of[1]->reading, other, of[1]->n);
    int rc = !values ? -ENOMEM : r[1] ? rk_sets_read(sets, 2, values, states, n, &when) : 0;
    for (int i = 0; rc == 0 && r[1] && i < 2; i++) {
        r[i]->time = when.from_ns;
        memcpy(r[i]->value, values + (i ? first : 0), (size_t)of[i]->n * sizeof *values);
        reading_states(r[i], states + (i ? first : 0));
    }
    free(values);
    PyObject *both = rc == 0 && r[1] ? Py_BuildValue("OO", r[0], r[1]) : NULL;
    Py_XDECREF((PyObject *)r[0]);
    Py_XDECREF((PyObject *)r[1]);
    return both || PyErr_Occurred() ? both : raise_error(state_of(o), rc, NULL);
}

static PyObject *set_read_slot(PyObject *o, PyObject *args)
{
    struct set *self = (struct set *)o;
    struct rk_set *set = usable(o);
    Py_ssize_t slot;

    if (!set || !PyArg_ParseTuple(args, "n", &slot))
        return NULL;
    if (slot < 0 || (size_t)slot >= rk_set_slot_count(set))
        return PyErr_Format(PyExc_IndexError, "there are %zd slots", (Py_ssize_t)rk_set_slot_count(set));
    struct reading *r = reading_make(self->reading, o, self->n);
    if (!r)
        return NULL;
    r->time = now_ns();
    int rc = rk_set_read(set, (size_t)slot, r->value, self->states, (size_t)self->n);
    if (rc < 0) {
        Py_DECREF(r);
        return raise_error(state_of(o), rc, NULL);
    }
    reading_states(r, self->states);
    return (PyObject *)r;
}

static PyObject *set_slots(PyObject *o, PyObject *unused)
{
    struct rk_set *set = usable(o);
    PyObject *list = set ? PyList_New(0) : NULL;

    (void)unused;
    for (size_t i = 0; list && i < rk_set_slot_count(set); i++) {
        struct rk_slot slot = RK_INIT(slot);
        rk_set_slot_get(set, i, &slot);
        PyObject *row = Py_BuildValue("iiN", (int)slot.pid, (int)slot.cpu, text(slot.cgroup));
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
    for (size_t i = 0; list && i < rk_set_note_count(set); i++) {
        struct rk_note n = {.size = sizeof n};
        rk_set_note_get(set, i, &n);
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
    self->handle = rk_set_free(self->handle);
    Py_RETURN_NONE;
}

static PyObject *set_names(PyObject *o, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct set *)o)->names);
}

static PyObject *set_units(PyObject *o, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct set *)o)->units);
}

static PyObject *set_on_cpus(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((struct set *)o)->on_cpus);
}

static PyObject *set_scales(PyObject *o, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct set *)o)->scales);
}

/* What no other set has, of this process or another one: a pickled reading keeps it. */
static PyObject *set_key(PyObject *o, void *unused)
{
    struct set *self = (struct set *)o;

    (void)unused;
    return PyUnicode_FromFormat("%llu-%d-%llu", (unsigned long long)state_of(o)->began_ns, (int)self->maker,
                                (unsigned long long)self->serial);
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
    {"read_with", set_read_with, METH_VARARGS, "read_with(other): a Reading of each, of one instant."},
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
    {"on_cpus", set_on_cpus, NULL, "True: it counts what CPUs do, whoever runs there.", NULL},
    {"scales", set_scales, NULL, "A count times this is in its unit.", NULL},
    {"key", set_key, NULL, "What no other set has.", NULL},
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

int set_ready(PyObject *module, struct state *state)
{
    return (state->set = add_type(module, &set_spec)) ? 0 : -1;
}
