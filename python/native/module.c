/* The module: its state, errors, and what all types share. */
#include "native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct state *state_of_type(PyTypeObject *type)
{
    return PyType_GetModuleState(type);
}

struct state *state_of(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    return state_of_type(type);
}

PyObject *text(const char *s)
{
    if (!s)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "replace");
}

const char *plain(PyObject *string)
{
    Py_ssize_t n;
    const char *s = PyUnicode_Check(string) ? PyUnicode_AsUTF8AndSize(string, &n) : NULL;

    if (s && strlen(s) == (size_t)n)
        return s;
    if (!PyErr_Occurred())
        PyErr_SetString(s ? PyExc_ValueError : PyExc_TypeError,
                        s ? "embedded null character" : "a string is needed");
    return NULL;
}

int take_path(PyObject *from, void *ret)
{
    *(char **)ret = NULL;
    return from == Py_None || PyBytes_AsStringAndSize(from, ret, NULL) == 0;
}

PyObject *loss_number(const struct rk_loss *loss, uint32_t bit, uint64_t value)
{
    return loss->present & bit ? PyLong_FromUnsignedLongLong(value) : text(NULL);
}

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

PyObject *raise_error(struct state *state, int code, const struct rk_error *e)
{
    PyObject *made;

    if (code == -EINTR && PyErr_CheckSignals() < 0)
        return NULL;
    if (code == -ENOMEM)
        return PyErr_NoMemory();
    if (e && e->code)
        made = PyObject_CallFunction(state->fail, "iNNssNI", -code, text(e->what), text(e->event),
                                     rk_cause_name(e->cause), rk_stage_name(e->stage), text(e->remedy),
                                     (unsigned)e->position);
    else
        made = PyObject_CallFunction(state->fail, "isssssI", -code, strerror(-code), "", "unknown", "none",
                                     "", 0u);
    if (made) {
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
        Py_DECREF(made);
    }
    return NULL;
}

PyObject *raise_closed(const char *what)
{
    return PyErr_Format(PyExc_ValueError, "this %s is closed", what);
}

PyObject *raise_busy(const char *what)
{
    return PyErr_Format(PyExc_RuntimeError, "another thread is using this %s", what);
}

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

    if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

void *make(PyTypeObject *type)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0);
}

void unmake(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    release(self);
    Py_DECREF(type);
}

static int gather(void *context, const void *data, size_t n)
{
    struct gathered *g = context;

    if (g->n + n > g->room) {
        size_t room = g->room ? g->room : 4096;
        while (room < g->n + n)
            room *= 2;
        char *more = realloc(g->data, room);
        if (!more)
            return -ENOMEM;
        g->data = more, g->room = room;
    }
    memcpy(g->data + g->n, data, n);
    g->n += n;
    return 0;
}

struct rk_sink gathered_sink(struct gathered *to)
{
    return (struct rk_sink){.size = sizeof(struct rk_sink), .write = gather, .context = to};
}

PyObject *gathered_take(struct gathered *from)
{
    PyObject *bytes = PyBytes_FromStringAndSize(from->data, (Py_ssize_t)from->n);

    free(from->data);
    *from = (struct gathered){0};
    return bytes;
}

static int module_exec(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    struct timespec now;
    PyObject *errors = PyImport_ImportModule("reckon._error");

    if (!errors)
        return -1;
    clock_gettime(CLOCK_REALTIME, &now);
    state->began_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    state->fail = PyObject_GetAttrString(errors, "make");
    Py_DECREF(errors);
    if (!state->fail || PyModule_AddStringConstant(module, "version", rk_version()) < 0)
        return -1;
    if (bell_ready(module, state) < 0 || host_ready(module, state) < 0 || target_ready(module, state) < 0 ||
        reading_ready(module, state) < 0 || set_ready(module, state) < 0 || stream_ready(module, state) < 0 ||
        capture_ready(module, state) < 0 || profile_ready(module, state) < 0 ||
        builder_ready(module, state) < 0 || symbol_ready(module, state) < 0 ||
        region_ready(module, state) < 0 || stats_ready(module, state) < 0)
        return -1;
    return 0;
}

#define EACH(visit)       \
    visit(s->fail);       \
    visit(s->bell);       \
    visit(s->host);       \
    visit(s->target);     \
    visit(s->set);        \
    visit(s->reading);    \
    visit(s->estimate);   \
    visit(s->stream);     \
    visit(s->capture);    \
    visit(s->profile);    \
    visit(s->column);     \
    visit(s->symbolizer); \
    visit(s->region)

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct state *s = PyModule_GetState(module);

    EACH(Py_VISIT);
    return 0;
}

static int module_clear(PyObject *module)
{
    struct state *s = PyModule_GetState(module);

    EACH(Py_CLEAR);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "reckon._native",
    .m_doc = "libreckon's handles; use the package reckon, which is made of them.",
    .m_size = sizeof(struct state),
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
