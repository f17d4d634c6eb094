/* Capture: a sampling set into a perf.data file. */
#include "native.h"

#include <errno.h>
#include <stdlib.h>

struct capture {
    PyObject_HEAD struct rk_capture *handle;
    PyObject *host, *set, *target;
    int busy;
};

static void let_go(struct capture *self)
{
    if (self->set)
        ((struct set *)self->set)->users--;
    if (self->target)
        ((struct target *)self->target)->users--;
    Py_CLEAR(self->set);
    Py_CLEAR(self->target);
    Py_CLEAR(self->host);
}

static void capture_dealloc(PyObject *o)
{
    struct capture *self = (struct capture *)o;

    rk_capture_finish(self->handle, NULL, NULL);
    rk_capture_free(self->handle);
    let_go(self);
    unmake(o);
}

/* Capture(host, set, target, path, command, unwind, compression) */
static PyObject *capture_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct rk_capture_options options = {.size = sizeof options};
    struct rk_error e = {.size = sizeof e};
    struct state *state = state_of_type(type);
    PyObject *host, *set, *target, *path = NULL, *command;
    unsigned unwind, compression;
    struct capture *self = NULL;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!O!O!O&O!II", state->host, &host, state->set, &set, state->target, &target,
                          PyUnicode_FSConverter, &path, &PyTuple_Type, &command, &unwind, &compression))
        return NULL;
    Py_ssize_t n = PyTuple_Size(command);
    const char **words = calloc((size_t)n + 1, sizeof *words);
    if (!words) {
        PyErr_NoMemory();
        goto out;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(words[i] = PyBytes_AsString(PyTuple_GetItem(command, i))))
            goto out;
    if (((struct set *)set)->busy || ((struct target *)target)->busy) {
        raise_busy("set or target");
        goto out;
    }
    if (!((struct set *)set)->handle || !((struct target *)target)->handle) {
        raise_closed("set or target");
        goto out;
    }
    if (!(self = make(type)))
        goto out;
    options.path = PyBytes_AsString(path);
    options.command = n ? words : NULL;
    options.flags = unwind ? RK_CAPTURE_UNWIND : 0, options.compression = compression;
    int rc = rk_capture_open(((struct host *)host)->handle, ((struct set *)set)->handle,
                             ((struct target *)target)->handle, &options, &self->handle, &e);
    if (rc < 0) {
        raise_error(state, rc, &e);
        Py_CLEAR(self);
        goto out;
    }
    Py_INCREF(host);
    Py_INCREF(set);
    Py_INCREF(target);
    self->host = host, self->set = set, self->target = target;
    ((struct set *)set)->users++;
    ((struct target *)target)->users++;
out:
    free(words);
    Py_XDECREF(path);
    return (PyObject *)self;
}

/* While it works without the interpreter's lock, nobody else uses it, its set or its target. */
static void lend(struct capture *self, int busy)
{
    self->busy = ((struct set *)self->set)->busy = ((struct target *)self->target)->busy = busy;
}

static int lent(const struct capture *self)
{
    return ((struct set *)self->set)->busy || ((struct target *)self->target)->busy;
}

/* step(timeout_ms): False: the target has ended and all is written */
static PyObject *capture_step(PyObject *o, PyObject *args)
{
    struct capture *self = (struct capture *)o;
    int timeout, rc;

    if (!PyArg_ParseTuple(args, "i", &timeout))
        return NULL;
    if (self->busy)
        return raise_busy("recording");
    if (!self->handle)
        return raise_closed("recording");
    if (lent(self))
        return raise_busy("recording's set or target");
    lend(self, 1);
    Py_BEGIN_ALLOW_THREADS rc = rk_capture_step(self->handle, timeout);
    Py_END_ALLOW_THREADS lend(self, 0);
    if (PyErr_CheckSignals() < 0)
        return NULL;
    if (rc < 0 && rc != -EINTR)
        return raise_error(state_of(o), rc, NULL);
    return PyBool_FromLong(rc != 0);
}

static PyObject *stats_row(const struct rk_capture_stats *s)
{
    return Py_BuildValue("{sKsKsKsNsNsK}", "bytes", (unsigned long long)s->bytes, "records",
                         (unsigned long long)s->records, "kept", (unsigned long long)s->loss.kept, "lost",
                         loss_number(&s->loss, RK_LOSS_LOST, s->loss.lost), "skipped",
                         loss_number(&s->loss, RK_LOSS_SKIPPED, s->loss.skipped), "truncated",
                         (unsigned long long)s->truncated);
}

/* close(): its figures, a dictionary; None where it was closed already */
static PyObject *capture_close(PyObject *o, PyObject *unused)
{
    struct capture *self = (struct capture *)o;
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct rk_error e = {.size = sizeof e};
    struct rk_capture *handle = self->handle;
    int rc;

    (void)unused;
    if (self->busy)
        return raise_busy("recording");
    if (!handle)
        Py_RETURN_NONE;
    if (lent(self))
        return raise_busy("recording's set or target");
    self->handle = NULL;
    lend(self, 1);
    Py_BEGIN_ALLOW_THREADS rc = rk_capture_finish(handle, &stats, &e);
    rk_capture_free(handle);
    Py_END_ALLOW_THREADS lend(self, 0);
    let_go(self);
    return rc < 0 ? raise_error(state_of(o), rc, &e) : stats_row(&stats);
}

static PyMethodDef methods[] = {
    {"step", capture_step, METH_VARARGS, "step(timeout_ms): writes what is due; False: all is written."},
    {"close", capture_close, METH_NOARGS, "Writes the rest; its figures."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, capture_new},
    {Py_tp_dealloc, capture_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Capture",
    .basicsize = sizeof(struct capture),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

/* What a sampling set is asked for, to find stacks whatever the program was built with: {option: number}. */
static PyObject *whole_stacks(PyObject *module, PyObject *args)
{
    uint64_t registers = rk_unwinder_registers(RK_MACHINE_HERE);
    unsigned bytes;

    (void)module;
    if (!PyArg_ParseTuple(args, "I", &bytes))
        return NULL;
    if (registers == 0) /* a machine whose stacks can't be unwound: frame pointers */
        return Py_BuildValue("{sK}", "sample", (unsigned long long)RK_SAMPLE_CALLCHAIN);
    return Py_BuildValue(
        "{sKsKsI}", "sample",
        (unsigned long long)(RK_SAMPLE_CALLCHAIN | RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER), "regs_user",
        (unsigned long long)registers, "stack_user", bytes);
}

static PyMethodDef functions[] = {
    {"whole_stacks", whole_stacks, METH_VARARGS, "whole_stacks(bytes): options of a Set for unwound stacks."},
    {NULL, NULL, 0, NULL},
};

int capture_ready(PyObject *module, struct state *state)
{
    if (PyModule_AddFunctions(module, functions) < 0 ||
        PyModule_AddIntConstant(module, "SAMPLE_CALLCHAIN", (long)RK_SAMPLE_CALLCHAIN) < 0 ||
        PyModule_AddIntConstant(module, "RECORDS_PROFILE", (long)RK_RECORDS_PROFILE) < 0)
        return -1;
    return (state->capture = add_type(module, &spec)) ? 0 : -1;
}
