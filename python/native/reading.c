/*
 * Reading: what one read of a set gave, an object with its numbers inside it, so that a read costs one allocation.
 * Estimate: totals of many readings, which never go backwards.
 */
#include "native.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The enum rk_state of each event. */
static unsigned char *states(struct reading *r)
{
    return (unsigned char *)&r->value[r->shape[0]];
}

void reading_states(struct reading *r, const uint32_t *from)
{
    for (Py_ssize_t i = 0; i < r->shape[0]; i++)
        states(r)[i] = (unsigned char)from[i];
}

/* Of values that were made of others: the times say what it is, where the others' are known. */
static unsigned char state_made(const struct rk_value *v, unsigned a, unsigned b)
{
    unsigned least = a < b ? a : b;

    if (v->running)
        return RK_STATE_COUNTED;
    return (unsigned char)(least < RK_STATE_IDLE ? least : v->enabled ? RK_STATE_STARVED : RK_STATE_IDLE);
}

struct reading *reading_make(PyTypeObject *type, PyObject *set, Py_ssize_t n)
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

static PyObject *reading_states_(PyObject *o, void *unused)
{
    struct reading *r = (struct reading *)o;
    PyObject *all = PyTuple_New(r->shape[0]);

    (void)unused;
    for (Py_ssize_t i = 0; all && i < r->shape[0]; i++) {
        PyObject *item = text(rk_state_name(states(r)[i]));
        if (!item || PyTuple_SetItem(all, i, item) < 0)
            Py_CLEAR(all);
    }
    return all;
}

static PyObject *reading_time(PyObject *o, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct reading *)o)->time);
}

static PyObject *reading_set(PyObject *o, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct reading *)o)->set);
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
    if (states(r)[event] == RK_STATE_IDLE)
        return Py_BuildValue("id", 0, 0.0);
    if (states(r)[event] < RK_STATE_IDLE)
        Py_RETURN_NONE;
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

/* Whether two readings are of one set of counters: a pickled one's source has the key of the set that was read. */
static int same_source(PyObject *one, PyObject *other)
{
    if (one == other)
        return 1;
    PyObject *a = PyObject_GetAttrString(one, "key");
    PyObject *b = a ? PyObject_GetAttrString(other, "key") : NULL;
    int same = b ? PyObject_RichCompareBool(a, b, Py_EQ) : -1;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return same;
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
    int same = a->shape[0] == b->shape[0] ? same_source(a->set, b->set) : 0;
    if (same < 0)
        return NULL;
    if (!same)
        return PyErr_Format(PyExc_ValueError, "readings of different counters");
    struct reading *r = reading_make(type, a->set, a->shape[0]);
    int backwards = r ? subtract(&r->time, a->time, b->time) : 0;
    for (Py_ssize_t i = 0; r && i < a->shape[0]; i++) {
        if (states(a)[i] == RK_STATE_ABSENT || states(b)[i] == RK_STATE_ABSENT)
            continue; /* one of them is unknown, and so is what lies between */
        backwards |= subtract(&r->value[i].value, a->value[i].value, b->value[i].value);
        backwards |= subtract(&r->value[i].enabled, a->value[i].enabled, b->value[i].enabled);
        backwards |= subtract(&r->value[i].running, a->value[i].running, b->value[i].running);
        states(r)[i] = state_made(&r->value[i], states(a)[i], RK_STATE_COUNTED);
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
        states(r)[i] = state_made(&r->value[i], states(a)[i], states(b)[i]);
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

/* The enum rk_state of that name, or -1. */
static int state_named(PyObject *word)
{
    const char *name = plain(word);

    for (uint32_t i = 0; name && i < 32; i++)
        if (strcmp(rk_state_name(i), name) == 0)
            return (int)i;
    if (name)
        PyErr_Format(PyExc_ValueError, "%S is no state of an event", word);
    return -1;
}

/* restore(source, time_ns, numbers, states): what bytes(reading), states and time_ns of a pickled one were */
static PyObject *reading_restore(PyObject *type, PyObject *args)
{
    PyObject *source, *numbers, *names;
    unsigned long long time;

    if (!PyArg_ParseTuple(args, "OKO!O!", &source, &time, &PyBytes_Type, &numbers, &PyTuple_Type, &names))
        return NULL;
    Py_ssize_t n = PyTuple_Size(names), length = PyBytes_Size(numbers);
    if (length != n * (Py_ssize_t)sizeof(struct rk_value))
        return PyErr_Format(PyExc_ValueError, "%zd bytes are not the numbers of %zd events", length, n);
    struct reading *r = reading_make((PyTypeObject *)type, source, n);
    if (!r)
        return NULL;
    memcpy(r->value, PyBytes_AsString(numbers), (size_t)length);
    r->time = time;
    for (Py_ssize_t i = 0; i < n; i++) {
        int state = state_named(PyTuple_GetItem(names, i));
        if (state < 0) {
            Py_DECREF(r);
            return NULL;
        }
        states(r)[i] = (unsigned char)state;
    }
    return (PyObject *)r;
}

static PyMethodDef reading_methods[] = {
    {"restore", reading_restore, METH_VARARGS | METH_CLASS, "restore(source, time_ns, numbers, states)"},
    {"estimate", reading_estimate, METH_VARARGS, "estimate(i): (estimate, bound), or None: not counted."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef reading_properties[] = {
    {"raw", reading_raw, NULL, "Counts as the kernel has them.", NULL},
    {"enabled_ns", reading_enabled, NULL, "How long each event was wanted.", NULL},
    {"running_ns", reading_running, NULL, "How long each was counted; 0: not at all.", NULL},
    {"states", reading_states_, NULL, "Of each: counted, idle (a true 0), starved, disabled, absent.", NULL},
    {"time_ns", reading_time, NULL, "When it was read (CLOCK_MONOTONIC); of a difference, how long.", NULL},
    {"source", reading_set, NULL, "The set that was read; of a pickled reading, what is known of it.", NULL},
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

struct estimate {
    PyObject_HEAD struct rk_estimates *handle;
    double *totals, *bounds; /* the last ones */
    Py_ssize_t n;
};

static PyObject *estimate_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct rk_error e = RK_INIT(e);
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
    self->totals = calloc(2 * (size_t)n + 1, sizeof *self->totals);
    self->bounds = self->totals ? self->totals + n : NULL;
    int rc = rk_estimates_open((size_t)n, &self->handle, &e);
    if (rc < 0 || !self->totals) {
        Py_DECREF(self);
        return rc < 0 ? raise_error(state_of_type(type), rc, &e) : PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void estimate_dealloc(PyObject *o)
{
    rk_estimates_free(((struct estimate *)o)->handle);
    free(((struct estimate *)o)->totals);
    unmake(o);
}

/* add(reading): (total, bound) of each event so far; NaN until it first ran, 0 where its target has not run yet */
static PyObject *estimate_add(PyObject *o, PyObject *args)
{
    struct estimate *self = (struct estimate *)o;
    PyObject *of, *all;

    if (!PyArg_ParseTuple(args, "O!", state_of(o)->reading, &of))
        return NULL;
    struct reading *r = (struct reading *)of;
    if (r->shape[0] != self->n)
        return PyErr_Format(PyExc_ValueError, "a reading of %zd events, not %zd", r->shape[0], self->n);
    rk_estimates_add(self->handle, r->value, (size_t)self->n, self->totals, self->bounds);
    all = PyTuple_New(self->n);
    for (Py_ssize_t i = 0; all && i < self->n; i++) {
        bool idle = isnan(self->totals[i]) && states(r)[i] == RK_STATE_IDLE;
        PyObject *row = Py_BuildValue("dd", idle ? 0 : self->totals[i], idle ? 0 : self->bounds[i]);
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

int reading_ready(PyObject *module, struct state *state)
{
    state->reading = add_type(module, &reading_spec);
    state->estimate = add_type(module, &estimate_spec);
    return state->reading && state->estimate ? 0 : -1;
}
