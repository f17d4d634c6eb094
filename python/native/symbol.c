/* Symbolizer: arrays of addresses → columns of names and lines. */
#include "native.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbolizer {
    PyObject_HEAD struct rk_symbolizer *handle;
    struct rk_image *image; /* a process's; NULL: addresses of a file, or the kernel's */
    char *path;             /* the file's */
    int32_t pid;
    int busy;
};

static void symbolizer_dealloc(PyObject *o)
{
    struct symbolizer *self = (struct symbolizer *)o;

    rk_symbolizer_free(self->handle);
    rk_image_free(self->image);
    free(self->path);
    unmake(o);
}

/* Symbolizer(path or None, pid or 0) */
static PyObject *symbolizer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct rk_symbolizer_options options = {.size = sizeof options};
    struct rk_error e = {.size = sizeof e};
    struct state *state = state_of_type(type);
    char *path;
    int pid, rc;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O&i", take_path, &path, &pid))
        return NULL;
    struct symbolizer *self = make(type);
    if (!self)
        return NULL;
    options.flags = path ? RK_SYMBOLIZER_ADDRESSES : 0;
    self->pid = pid;
    self->path = path ? strdup(path) : NULL;
    rc = path && !self->path ? -ENOMEM : rk_symbolizer_open(&options, &self->handle, &e);
    if (rc == 0 && pid)
        rc = rk_image_open(&self->image, &e);
    if (rc < 0) {
        raise_error(state, rc, &e);
    } else if (pid && (rc = rk_image_feed_process(self->image, NULL, pid)) < 0) {
        e = (struct rk_error){.size = sizeof e, .code = rc};
        snprintf(e.what, sizeof e.what, "process %d: cannot read its map of memory: %s", pid, strerror(-rc));
        raise_error(state, rc, &e);
    }
    if (rc < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* The string of a C string, made once for each pointer: the answer has most names once. */
static PyObject *interned(PyObject *texts, const char *s)
{
    if (!s)
        return text(NULL);
    PyObject *key = PyLong_FromVoidPtr((void *)(uintptr_t)s),
             *known = key ? PyDict_GetItemWithError(texts, key) : NULL;
    if (known) {
        Py_INCREF(known);
    } else if (key && !PyErr_Occurred()) {
        known = text(s);
        if (known && PyDict_SetItem(texts, key, known) < 0)
            Py_CLEAR(known);
    }
    Py_XDECREF(key);
    return known;
}

/* The frames of one address as a tuple of (function, file, line, column, declared_file, declared_line), innermost first. */
static PyObject *frames_of(PyObject *texts, const struct rk_sources *s, size_t i)
{
    size_t n = s->first[i + 1] - s->first[i];
    PyObject *frames = PyTuple_New((Py_ssize_t)n);

    for (size_t k = 0; frames && k < n; k++) {
        size_t f = s->first[i] + k;
        PyObject *row = Py_BuildValue("NNIINI", interned(texts, s->function[f]), interned(texts, s->file[f]),
                                      (unsigned)s->line[f], (unsigned)s->column[f],
                                      interned(texts, s->declared_file[f]), (unsigned)s->declared_line[f]);
        if (!row || PyTuple_SetItem(frames, (Py_ssize_t)k, row) < 0)
            Py_CLEAR(frames);
    }
    return frames;
}

/* (name, mangled, distance, bytes, module, miss, frames) */
static PyObject *row_of(PyObject *texts, const struct rk_sources *s, size_t i, int lines)
{
    const struct rk_symbol *symbol = &s->symbol[i];
    PyObject *frames = lines ? frames_of(texts, s, i) : PyTuple_New(0);

    return frames ? Py_BuildValue("NNKKNNN", interned(texts, symbol->name), interned(texts, symbol->mangled),
                                  (unsigned long long)symbol->distance, (unsigned long long)symbol->bytes,
                                  interned(texts, s->module[i] ? s->module[i]->path : NULL),
                                  text(symbol->miss ? rk_miss_text(symbol->miss) : ""), frames)
                  : NULL;
}

static int ask(struct symbolizer *self, const uint64_t *addresses, size_t n,
               const struct rk_sources_options *how, struct rk_sources **ret, struct rk_error *e)
{
    const char *slash = self->path ? strrchr(self->path, '/') : NULL;
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_KERNEL, .path = "[kernel]"};

    if (self->image)
        return rk_symbolizer_image(self->handle, self->image, self->pid, addresses, n, how, ret, e);
    module.name = module.path;
    if (self->path) {
        module.kind = RK_MODULE_FILE;
        module.path = self->path;
        module.name = slash && slash[1] ? slash + 1 : self->path;
    }
    return rk_symbolizer_sources(self->handle, &module, addresses, n, how, ret, e);
}

/* resolve(addresses, lines, threads): a list of row_of(); addresses is a buffer of 64-bit words */
static PyObject *symbolizer_resolve(PyObject *o, PyObject *args)
{
    struct symbolizer *self = (struct symbolizer *)o;
    struct rk_sources_options how = {.size = sizeof how};
    struct rk_error e = {.size = sizeof e};
    PyObject *lines, *addresses, *list = NULL, *texts = NULL;
    struct rk_sources *sources = NULL;
    Py_buffer view;
    int rc;

    if (!PyArg_ParseTuple(args, "OO!I", &addresses, &PyBool_Type, &lines, &how.threads) ||
        PyObject_GetBuffer(addresses, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    how.flags = lines == Py_True ? 0 : RK_SOURCES_NO_LINES;
    if (self->busy || view.len % 8 || (view.len && (uintptr_t)view.buf % 8)) {
        PyBuffer_Release(&view);
        if (self->busy)
            return raise_busy("symbolizer");
        PyErr_SetString(PyExc_ValueError, "addresses are a contiguous array of 64-bit words");
        return NULL;
    }
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS rc = ask(self, view.buf, (size_t)view.len / 8, &how, &sources, &e);
    Py_END_ALLOW_THREADS self->busy = 0;
    if (rc < 0)
        raise_error(state_of(o), rc, &e);
    else if ((texts = PyDict_New()))
        list = PyList_New(view.len / 8);
    for (size_t i = 0; list && i < sources->n; i++) {
        PyObject *row = row_of(texts, sources, i, lines == Py_True);
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row) < 0)
            Py_CLEAR(list);
    }
    Py_XDECREF(texts);
    rk_sources_free(sources);
    PyBuffer_Release(&view);
    return list;
}

/* build_id(path): bytes */
static PyObject *module_build_id(PyObject *module, PyObject *args)
{
    unsigned char id[RK_BUILD_ID_BYTES];
    struct rk_error e = {.size = sizeof e};
    PyObject *path;
    int n;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS n = rk_module_build_id(PyBytes_AsString(path), id, &e);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    if (n == -ENODATA)
        Py_RETURN_NONE;
    return n < 0 ? raise_error(PyModule_GetState(module), n, &e)
                 : PyBytes_FromStringAndSize((const char *)id, n);
}

static PyMethodDef methods[] = {
    {"resolve", symbolizer_resolve, METH_VARARGS,
     "resolve(addresses, lines, threads): [(name, mangled, distance, bytes, module, miss, frames)]"},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"build_id", module_build_id, METH_VARARGS, "build_id(path): the build-id's bytes, or None."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, symbolizer_new},
    {Py_tp_dealloc, symbolizer_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Symbolizer",
    .basicsize = sizeof(struct symbolizer),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int symbol_ready(PyObject *module, struct state *state)
{
    if (PyModule_AddFunctions(module, functions) < 0)
        return -1;
    return (state->symbolizer = add_type(module, &spec)) ? 0 : -1;
}
