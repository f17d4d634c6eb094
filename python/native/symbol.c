/* Symbolizer: arrays of addresses → columns of names and lines. */
#include "native.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbolizer {
    PyObject_HEAD struct rk_symbolizer *handle;
    struct rk_image *image; /* a process's; NULL: a file's addresses */
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
    if (rc == 0 && !path)
        rc = rk_image_open(&self->image, &e);
    if (rc < 0) {
        raise_error(state, rc, &e);
    } else if (!path && pid && (rc = rk_image_feed_process(self->image, NULL, pid)) < 0) {
        e = (struct rk_error){.size = sizeof e, .code = rc};
        snprintf(e.what, sizeof e.what, "process %d: its map of memory can't be read: %s", pid,
                 strerror(-rc));
        raise_error(state, rc, &e);
    }
    if (rc < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* What one call works on. */
struct job {
    struct symbolizer *of;
    const uint64_t *addresses;
    size_t n;
    struct rk_place *places; /* a process's */
    PyObject *frames;        /* Py_True: with lines */
    PyObject *texts;
    uint32_t threads;
};

/* The string of a C string, made once for each pointer: the symbolizer has each name once. */
static PyObject *interned(struct job *j, const char *s)
{
    if (!s)
        return text(NULL);
    PyObject *key = PyLong_FromVoidPtr((void *)(uintptr_t)s),
             *known = key ? PyDict_GetItemWithError(j->texts, key) : NULL;
    if (known) {
        Py_INCREF(known);
    } else if (key && !PyErr_Occurred()) {
        known = text(s);
        if (known && PyDict_SetItem(j->texts, key, known) < 0)
            Py_CLEAR(known);
    }
    Py_XDECREF(key);
    return known;
}

/* The frames of one offset as a tuple of (function, file, line, column), innermost first. */
static PyObject *frames_of(struct job *j, const struct rk_sources *s, size_t i)
{
    size_t n = s->first[i + 1] - s->first[i];
    PyObject *frames = PyTuple_New((Py_ssize_t)n);

    for (size_t k = 0; frames && k < n; k++) {
        size_t f = s->first[i] + k;
        PyObject *row = Py_BuildValue("NNII", interned(j, s->function[f]), interned(j, s->file[f]),
                                      (unsigned)s->line[f], (unsigned)s->column[f]);
        if (!row || PyTuple_SetItem(frames, (Py_ssize_t)k, row) < 0)
            Py_CLEAR(frames);
    }
    return frames;
}

/* Puts (name, distance, module, miss, frames) at list[at]. */
static int put(struct job *j, PyObject *list, size_t at, const struct rk_symbol *symbol, const char *module,
               const struct rk_sources *sources, size_t i)
{
    PyObject *frames = sources ? frames_of(j, sources, i) : PyTuple_New(0);
    PyObject *row = frames ? Py_BuildValue("NKNNN", interned(j, symbol->name),
                                           (unsigned long long)symbol->distance, interned(j, module),
                                           symbol->miss ? text(rk_miss_text(symbol->miss)) : text(""), frames)
                           : NULL;

    return row ? PyList_SetItem(list, (Py_ssize_t)at, row) : -1;
}

/* The offsets of one module: `index` says which rows they are. */
static int resolve(struct job *j, PyObject *list, const struct rk_module *module, const uint64_t *offsets,
                   const size_t *index, size_t n)
{
    struct rk_sources_options options = {.size = sizeof options, .threads = j->threads};
    struct rk_symbol *symbols = calloc(n, sizeof *symbols);
    struct rk_sources *sources = NULL;
    int rc = symbols ? 0 : -ENOMEM;

    Py_BEGIN_ALLOW_THREADS if (rc == 0) rc =
        rk_symbolizer_resolve(j->of->handle, module, offsets, n, symbols);
    if (rc == 0 && j->frames == Py_True)
        rc = rk_symbolizer_sources(j->of->handle, module, offsets, n, &options, &sources, NULL);
    Py_END_ALLOW_THREADS if (rc < 0) raise_error(state_of((PyObject *)j->of), rc, NULL);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = put(j, list, index[i], &symbols[i], module->path, sources, i);
    /* Names outlive this call; the texts of sources don't, and another may come to lie where they lay. */
    PyDict_Clear(j->texts);
    rk_sources_free(sources);
    free(symbols);
    return rc;
}

static int of_file(struct job *j, PyObject *list)
{
    const char *slash = strrchr(j->of->path, '/');
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = j->of->path};
    size_t *index = calloc(j->n + 1, sizeof *index);
    int rc = index ? 0 : -1;

    if (!index)
        PyErr_NoMemory();
    module.name = slash && slash[1] ? slash + 1 : j->of->path;
    for (size_t i = 0; index && i < j->n; i++)
        index[i] = i;
    if (rc == 0 && j->n)
        rc = resolve(j, list, &module, j->addresses, index, j->n);
    free(index);
    return rc;
}

/* Where the image has no module for an address. */
static int nowhere(struct job *j, PyObject *list, size_t at)
{
    struct rk_symbol none = {.miss = RK_MISS_NO_MODULE};

    return put(j, list, at, &none, NULL, NULL, 0);
}

static int of_process(struct job *j, PyObject *list)
{
    uint64_t *offsets = calloc(j->n + 1, sizeof *offsets);
    size_t *index = calloc(j->n + 1, sizeof *index);
    int rc = offsets && index ? 0 : -1;

    j->places = calloc(j->n + 1, sizeof *j->places);
    if (rc < 0 || !j->places) {
        PyErr_NoMemory();
        rc = -1;
    }
    if (rc == 0)
        rk_image_find(j->of->image, j->of->pid, j->addresses, j->n, j->places);
    for (size_t i = 0; rc == 0 && i < j->n; i++)
        if (j->places[i].module == RK_NO_MODULE)
            rc = nowhere(j, list, i);
    for (uint32_t m = 0; rc == 0 && m < rk_image_module_count(j->of->image); m++) {
        struct rk_module module = {.size = sizeof module};
        size_t n = 0;
        for (size_t i = 0; i < j->n; i++)
            if (j->places[i].module == m)
                offsets[n] = j->places[i].offset, index[n++] = i;
        if (n && (rc = rk_image_module_get(j->of->image, m, &module)) == 0)
            rc = resolve(j, list, &module, offsets, index, n);
    }
    free(offsets);
    free(index);
    free(j->places);
    return rc;
}

/* resolve(addresses, lines, threads): [(name, distance, module, miss, frames)]; addresses is a buffer of 64-bit words */
static PyObject *symbolizer_resolve(PyObject *o, PyObject *args)
{
    struct symbolizer *self = (struct symbolizer *)o;
    PyObject *lines, *addresses, *list = NULL;
    struct job j = {.of = self};
    unsigned threads;
    Py_buffer view;

    if (!PyArg_ParseTuple(args, "OO!I", &addresses, &PyBool_Type, &lines, &threads) ||
        PyObject_GetBuffer(addresses, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    if (self->busy) {
        PyBuffer_Release(&view);
        return raise_busy("symbolizer");
    }
    if (view.len % 8 || (view.len && (uintptr_t)view.buf % 8))
        PyErr_SetString(PyExc_ValueError, "addresses are a contiguous array of 64-bit words");
    else if ((j.texts = PyDict_New()) && (list = PyList_New(view.len / 8))) {
        j.addresses = view.buf, j.n = (size_t)view.len / 8, j.frames = lines, j.threads = threads;
        self->busy = 1;
        if ((self->path ? of_file(&j, list) : of_process(&j, list)) < 0)
            Py_CLEAR(list);
        self->busy = 0;
    }
    Py_XDECREF(j.texts);
    PyBuffer_Release(&view);
    return list;
}

static PyMethodDef methods[] = {
    {"resolve", symbolizer_resolve, METH_VARARGS,
     "resolve(addresses, lines, threads): [(name, distance, module, miss, frames)]"},
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
    return (state->symbolizer = add_type(module, &spec)) ? 0 : -1;
}
