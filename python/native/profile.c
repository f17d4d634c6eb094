/* Profile: functions and stacks of a recording, and its exports. */
#include "native.h"

#include <errno.h>
#include <stdlib.h>

struct profile {
    PyObject_HEAD struct rk_profile *handle;
};

static void profile_dealloc(PyObject *o)
{
    rk_profile_free(((struct profile *)o)->handle);
    unmake(o);
}

/* All records of a file into a profile; without the interpreter's lock. */
static int build(const char *path, const struct rk_profile_options *options, struct rk_profile **ret,
                 struct rk_error *e)
{
    struct rk_profile_builder *builder = NULL;
    const struct rk_record *record;
    struct rk_stream *stream = NULL;
    int rc = rk_stream_file(path, &stream, e);

    if (rc == 0)
        rc = rk_profile_builder_open(options, &builder, e);
    while (rc == 0) {
        rc = rk_stream_next(stream, &record);
        if (rc == 0) {
            rc = rk_profile_finish(builder, stream, ret, e);
            builder = NULL;
            break;
        }
        if (rc == 1)
            rc = rk_profile_feed(builder, stream, record);
        else if (rc != -EBADMSG) /* one damaged record is left out, as the summary's loss tells */
            rk_stream_explain(stream, e);
        rc = rc == -EBADMSG || rc > 0 ? 0 : rc;
        rk_stream_release(stream);
    }
    rk_profile_builder_close(builder);
    rk_stream_close(stream);
    return rc;
}

/* Profile(path, event or -1, no_inline, by_line, threads) */
static PyObject *profile_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct rk_profile_options options = {.size = sizeof options};
    struct rk_error e = {.size = sizeof e};
    PyObject *path = NULL;
    int event, rc;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O&iIII", PyUnicode_FSConverter, &path, &event, &options.no_inline, &options.by_line,
                          &options.threads))
        return NULL;
    options.event_set = event >= 0, options.event = event >= 0 ? (uint32_t)event : 0;
    struct profile *self = make(type);
    if (self) {
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        rc = build(name, &options, &self->handle, &e);
        Py_END_ALLOW_THREADS
        if (rc < 0) {
            raise_error(state_of_type(type), rc, &e);
            Py_CLEAR(self);
        }
    }
    Py_XDECREF(path);
    return (PyObject *)self;
}

static PyObject *known(uint32_t present, uint32_t bit, uint64_t value)
{
    return present & bit ? PyLong_FromUnsignedLongLong(value) : text(NULL);
}

static PyObject *profile_summary(PyObject *o, PyObject *unused)
{
    struct rk_profile_summary s = {.size = sizeof s};

    (void)unused;
    rk_profile_summary(((struct profile *)o)->handle, &s);
    return Py_BuildValue("{sNsIsKsKsKsKsKsKsNsNsNsKsKsK}", "event", text(s.event), "events", (unsigned)s.events,
                         "samples", (unsigned long long)s.samples, "weight", (unsigned long long)s.weight, "unnamed",
                         (unsigned long long)s.unnamed, "threads", (unsigned long long)s.threads, "first_time",
                         (unsigned long long)s.first_time, "last_time", (unsigned long long)s.last_time, "lost",
                         known(s.loss.present, RK_LOSS_LOST, s.loss.lost), "skipped",
                         known(s.loss.present, RK_LOSS_SKIPPED, s.loss.skipped), "cut", PyBool_FromLong((long)s.cut),
                         "stacks_whole", (unsigned long long)s.stacks_whole, "stacks_cut",
                         (unsigned long long)s.stacks_cut, "stacks_broken", (unsigned long long)s.stacks_broken);
}

/* functions(): [(symbol, module, path, file, line, self, total, self_samples, total_samples, miss)] */
static PyObject *profile_functions(PyObject *o, PyObject *unused)
{
    const struct rk_profile *p = ((struct profile *)o)->handle;
    size_t n = rk_profile_functions(p);
    PyObject *list = PyList_New((Py_ssize_t)n);

    (void)unused;
    for (size_t i = 0; list && i < n; i++) {
        struct rk_function f = {.size = sizeof f};
        rk_profile_function(p, i, &f);
        PyObject *row = Py_BuildValue("NNNNIKKKKN", text(f.symbol), text(f.module), text(f.path), text(f.file),
                                      (unsigned)f.line, (unsigned long long)f.self, (unsigned long long)f.total,
                                      (unsigned long long)f.self_samples, (unsigned long long)f.total_samples,
                                      text(f.miss ? rk_miss_text(f.miss) : ""));
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* stacks(): [(frames, comm, pid, tid, event, weight, samples)], frames outermost first */
static PyObject *profile_stacks(PyObject *o, PyObject *unused)
{
    const struct rk_profile *p = ((struct profile *)o)->handle;
    size_t n = rk_profile_stacks(p);
    PyObject *list = PyList_New((Py_ssize_t)n);

    (void)unused;
    for (size_t i = 0; list && i < n; i++) {
        struct rk_stack s = {.size = sizeof s};
        rk_profile_stack(p, i, &s);
        PyObject *frames = PyTuple_New((Py_ssize_t)s.frame_n);
        for (uint32_t k = 0; frames && k < s.frame_n; k++)
            PyTuple_SetItem(frames, (Py_ssize_t)k, PyLong_FromUnsignedLong(s.frames[k]));
        PyObject *row = frames ? Py_BuildValue("NNiiIKK", frames, text(s.comm), (int)s.pid, (int)s.tid,
                                               (unsigned)s.event, (unsigned long long)s.weight,
                                               (unsigned long long)s.samples)
                               : NULL;
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* export(format): bytes */
static PyObject *profile_export(PyObject *o, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct gathered bytes = {0};
    struct rk_sink sink = gathered_sink(&bytes);
    const char *format;
    int rc;

    if (!PyArg_ParseTuple(args, "s", &format))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = rk_profile_export(((struct profile *)o)->handle, format, &sink, &e);
    Py_END_ALLOW_THREADS
    if (rc < 0) {
        free(bytes.data);
        return raise_error(state_of(o), rc, &e);
    }
    return gathered_take(&bytes);
}

static PyMethodDef methods[] = {
    {"summary", profile_summary, METH_NOARGS, "Samples, weight, loss, times."},
    {"functions", profile_functions, METH_NOARGS, "Rows of rk_function, hottest first."},
    {"stacks", profile_stacks, METH_NOARGS, "Rows of rk_stack, heaviest first."},
    {"export", profile_export, METH_VARARGS, "export(format): bytes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, profile_new},
    {Py_tp_dealloc, profile_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Profile",
    .basicsize = sizeof(struct profile),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int profile_ready(PyObject *module, struct state *state)
{
    return (state->profile = add_type(module, &spec)) ? 0 : -1;
}
