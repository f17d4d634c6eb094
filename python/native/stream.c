/* Stream: samples as columns, live or of a recording. */
#include "native.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct stream {
    PyObject_HEAD struct rk_stream *handle;
    PyObject *set; /* live: what it reads; NULL: a recording */
    int busy;
};

static void let_go(struct stream *self)
{
    self->handle = rk_stream_free(self->handle);
    if (self->set)
        ((struct set *)self->set)->users--;
    Py_CLEAR(self->set);
}

static void stream_dealloc(PyObject *o)
{
    let_go((struct stream *)o);
    unmake(o);
}

static PyObject *stream_file(PyObject *type, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct state *state = state_of_type((PyTypeObject *)type);
    PyObject *path = NULL;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    struct stream *self = make((PyTypeObject *)type);
    if (self) {
        const char *name = PyBytes_AsString(path);
        int rc;
        Py_BEGIN_ALLOW_THREADS rc = rk_stream_file(name, &self->handle, &e);
        Py_END_ALLOW_THREADS if (rc < 0)
        {
            raise_error(state, rc, &e);
            Py_CLEAR(self);
        }
    }
    Py_XDECREF(path);
    return (PyObject *)self;
}

static PyObject *stream_live(PyObject *type, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct state *state = state_of_type((PyTypeObject *)type);
    PyObject *set;

    if (!PyArg_ParseTuple(args, "O!", state->set, &set))
        return NULL;
    if (!((struct set *)set)->handle)
        return raise_closed("set of counters");
    struct stream *self = make((PyTypeObject *)type);
    if (!self)
        return NULL;
    int rc = rk_stream_live(((struct set *)set)->handle, &self->handle, &e);
    if (rc < 0) {
        raise_error(state, rc, &e);
        Py_DECREF(self);
        return NULL;
    }
    Py_INCREF(set);
    self->set = set;
    ((struct set *)set)->users++;
    return (PyObject *)self;
}

struct rk_stream *stream_usable(PyObject *o)
{
    struct stream *self = (struct stream *)o;

    if (self->busy) {
        raise_busy("stream");
        return NULL;
    }
    if (self->set && ((struct set *)self->set)->busy) {
        raise_busy("set of counters");
        return NULL;
    }
    if (!self->handle)
        raise_closed("stream");
    return self->handle;
}

/* The columns that are given, each with its place in rk_columns and the bytes of an item. */
static const struct {
    const char *name;
    size_t offset, bytes;
} columns[] = {
#define COLUMN(f)                                                               \
    {                                                                           \
#f, offsetof(struct rk_columns, f), sizeof *((struct rk_columns *)0)->f \
    }
    COLUMN(time), COLUMN(ip),  COLUMN(addr), COLUMN(period), COLUMN(weight), COLUMN(cgroup),
    COLUMN(pid),  COLUMN(tid), COLUMN(cpu),  COLUMN(event),  COLUMN(misc),
#undef COLUMN
};
enum { COLUMNS = sizeof columns / sizeof *columns, CHAINS = 64 };

/* A bytearray of n bytes in dict[name]; its bytes, or NULL with an exception. */
static char *room(PyObject *dict, const char *name, size_t n)
{
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)n);
    int rc = bytes ? PyDict_SetItemString(dict, name, bytes) : -1;

    Py_XDECREF(bytes);
    return rc < 0 ? NULL : PyByteArray_AsString(bytes);
}

static int fit(PyObject *dict, const char *name, size_t n)
{
    return PyByteArray_Resize(PyDict_GetItemString(dict, name), (Py_ssize_t)n);
}

void stream_lend(PyObject *o, int busy)
{
    struct stream *self = (struct stream *)o;

    self->busy = busy;
    if (self->set)
        ((struct set *)self->set)->busy = busy;
}

/* next(max): {name: bytearray} of up to max samples; fewer at a file's end or where nothing is due now */
static PyObject *stream_next(PyObject *o, PyObject *args)
{
    struct rk_columns c = {.size = sizeof c};
    struct rk_stream *stream = stream_usable(o);
    unsigned long long max;
    int64_t n;

    if (!stream || !PyArg_ParseTuple(args, "K", &max))
        return NULL;
    if (max < 1 || max > 1 << 24)
        return PyErr_Format(PyExc_ValueError, "1 to 2**24 samples at a time");
    PyObject *dict = PyDict_New();
    if (!dict)
        return NULL;
    c.max = max, c.chains_max = max * CHAINS;
    for (int i = 0; i < COLUMNS; i++) {
        char *bytes = room(dict, columns[i].name, max * columns[i].bytes);
        if (!bytes)
            goto failed;
        memcpy((char *)&c + columns[i].offset, &bytes, sizeof bytes);
    }
    c.chain_start = (uint64_t *)(void *)room(dict, "chain_start", (max + 1) * 8);
    c.chains = c.chain_start ? (uint64_t *)(void *)room(dict, "chains", c.chains_max * 8) : NULL;
    if (!c.chains)
        goto failed;
    stream_lend(o, 1);
    Py_BEGIN_ALLOW_THREADS n = rk_stream_columns(stream, &c);
    Py_END_ALLOW_THREADS stream_lend(o, 0);
    if (n < 0) {
        struct rk_error e = {.size = sizeof e};
        int known = rk_stream_explain(stream, &e) == 0;
        raise_error(state_of(o), (int)n, known ? &e : NULL);
        goto failed;
    }
    size_t chains = n ? c.chain_start[n] : 0;
    for (int i = 0; i < COLUMNS; i++)
        if (fit(dict, columns[i].name, (size_t)n * columns[i].bytes) < 0)
            goto failed;
    if (n == 0)
        c.chain_start[0] = 0;
    if (fit(dict, "chain_start", ((size_t)n + 1) * 8) < 0 || fit(dict, "chains", chains * 8) < 0)
        goto failed;
    return dict;
failed:
    Py_DECREF(dict);
    return NULL;
}

/* wait(timeout_ms): whether records wait */
static PyObject *stream_wait(PyObject *o, PyObject *args)
{
    struct rk_stream *stream = stream_usable(o);
    int timeout, rc;

    if (!stream || !PyArg_ParseTuple(args, "i", &timeout))
        return NULL;
    struct pollfd fd = {.fd = rk_stream_fd(stream), .events = POLLIN};
    if (fd.fd < 0)
        return raise_error(state_of(o), fd.fd, NULL);
    ((struct stream *)o)->busy = 1;
    Py_BEGIN_ALLOW_THREADS rc = poll(&fd, 1, timeout) < 0 ? -errno : fd.revents != 0;
    Py_END_ALLOW_THREADS((struct stream *)o)->busy = 0;
    if (rc == -EINTR)
        return PyErr_CheckSignals() < 0 ? NULL : PyBool_FromLong(0);
    return rc < 0 ? raise_error(state_of(o), rc, NULL) : PyBool_FromLong(rc);
}

static PyObject *stream_fileno(PyObject *o, PyObject *unused)
{
    struct rk_stream *stream = stream_usable(o);
    int fd = stream ? rk_stream_fd(stream) : -1;

    (void)unused;
    if (!stream)
        return NULL;
    return fd < 0 ? raise_error(state_of(o), fd, NULL) : PyLong_FromLong(fd);
}

static PyObject *stream_drain(PyObject *o, PyObject *unused)
{
    struct rk_stream *stream = stream_usable(o);
    int rc = stream ? rk_stream_drain(stream) : -1;

    (void)unused;
    if (!stream)
        return NULL;
    if (rc < 0)
        return raise_error(state_of(o), rc, NULL);
    Py_RETURN_NONE;
}

static PyObject *stream_events(PyObject *o, PyObject *unused)
{
    struct rk_stream *stream = stream_usable(o);
    PyObject *list = stream ? PyList_New(0) : NULL;

    (void)unused;
    for (size_t i = 0; list && i < rk_stream_event_count(stream); i++) {
        struct rk_stream_event event = {.size = sizeof event};
        rk_stream_event_get(stream, i, &event);
        PyObject *name = text(event.name);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* loss(): (kept, lost or None, skipped or None, throttled, records_lost) of all events */
static PyObject *stream_loss(PyObject *o, PyObject *unused)
{
    struct rk_loss loss = {.size = sizeof loss};
    struct rk_stream *stream = stream_usable(o);
    int rc = stream ? rk_stream_loss(stream, RK_NO_EVENT, &loss) : -1;

    (void)unused;
    if (!stream)
        return NULL;
    if (rc < 0)
        return raise_error(state_of(o), rc, NULL);
    return Py_BuildValue("KNNKK", (unsigned long long)loss.kept, loss_number(&loss, RK_LOSS_LOST, loss.lost),
                         loss_number(&loss, RK_LOSS_SKIPPED, loss.skipped),
                         (unsigned long long)loss.throttled, (unsigned long long)loss.records_lost);
}

/* info(): {host, kernel, architecture, command, tool, cut, cpus} */
static PyObject *stream_info(PyObject *o, PyObject *unused)
{
    struct rk_stream_info info = {.size = sizeof info};
    struct rk_stream *stream = stream_usable(o);
    int rc = stream ? rk_stream_info(stream, &info) : -1;

    (void)unused;
    if (!stream)
        return NULL;
    if (rc < 0)
        return raise_error(state_of(o), rc, NULL);
    return Py_BuildValue("{sNsNsNsNsNsNsI}", "host", text(info.host), "kernel", text(info.kernel),
                         "architecture", text(info.architecture), "command", text(info.command), "tool",
                         text(info.tool), "cut", PyBool_FromLong((long)info.cut), "cpus",
                         (unsigned)info.cpus);
}

static PyObject *stream_close(PyObject *o, PyObject *unused)
{
    (void)unused;
    if (((struct stream *)o)->busy)
        return raise_busy("stream");
    let_go((struct stream *)o);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"file", stream_file, METH_VARARGS | METH_CLASS, "file(path): a recording."},
    {"live", stream_live, METH_VARARGS | METH_CLASS, "live(set): what it samples."},
    {"next", stream_next, METH_VARARGS, "next(max): {column: bytearray}."},
    {"wait", stream_wait, METH_VARARGS, "wait(timeout_ms): whether records wait."},
    {"fileno", stream_fileno, METH_NOARGS, "A descriptor that polls readable when records wait."},
    {"drain", stream_drain, METH_NOARGS, "No more will be produced: next() gives the rest."},
    {"events", stream_events, METH_NOARGS, "The events' names."},
    {"loss", stream_loss, METH_NOARGS, "(kept, lost, skipped, throttled, records_lost)"},
    {"info", stream_info, METH_NOARGS, "What is known about a recording."},
    {"close", stream_close, METH_NOARGS, "Closes it."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Stream",
    .basicsize = sizeof(struct stream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int stream_ready(PyObject *module, struct state *state)
{
    return (state->stream = add_type(module, &spec)) ? 0 : -1;
}
