/*
 * Profile: its columns without a copy, sums, parts, merges, differences, exports. Column: one array of a profile, which it
 * keeps alive, as a buffer.
 */
#include "native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct profile {
    PyObject_HEAD struct rk_profile *handle;
};

struct column {
    PyObject_HEAD PyObject *profile;
    const void *data;
    Py_ssize_t n;
    const char *format;
    Py_ssize_t bytes;
};

static void profile_dealloc(PyObject *o)
{
    rk_profile_free(((struct profile *)o)->handle);
    unmake(o);
}

PyObject *profile_wrap(struct state *state, int rc, const struct rk_error *e, struct rk_profile *handle)
{
    if (rc < 0)
        return raise_error(state, rc, e);
    struct profile *self = make(state->profile);
    if (self)
        self->handle = handle;
    else
        rk_profile_free(handle);
    return (PyObject *)self;
}

/* file(path, event or -1, no_inline, times, threads) */
static PyObject *profile_file(PyObject *type, PyObject *args)
{
    struct rk_profile_options options = {.size = sizeof options};
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *made = NULL;
    PyObject *path = NULL;
    unsigned no_inline;
    int event, rc;

    if (!PyArg_ParseTuple(args, "O&iIII", PyUnicode_FSConverter, &path, &event, &no_inline, &options.times,
                          &options.threads))
        return NULL;
    options.flags = (event >= 0 ? RK_PROFILE_EVENT : 0u) | (no_inline ? RK_PROFILE_NO_INLINE : 0u);
    options.event = event >= 0 ? (uint32_t)event : 0;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS rc = rk_profile_file(name, &options, &made, NULL, &e);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    return profile_wrap(state_of_type((PyTypeObject *)type), rc, &e, made);
}

/* merge(profiles, labels or None) */
static PyObject *profile_merge(PyObject *type, PyObject *args)
{
    struct state *state = state_of_type((PyTypeObject *)type);
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *made = NULL;
    PyObject *profiles, *labels, *result = NULL;

    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &profiles, &labels))
        return NULL;
    Py_ssize_t n = PyTuple_Size(profiles);
    const struct rk_profile **each = calloc((size_t)n + 1, sizeof *each);
    const char **names = labels == Py_None ? NULL : calloc((size_t)n + 1, sizeof *names);
    if (!each || (labels != Py_None && !names)) {
        PyErr_NoMemory();
        goto out;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PyTuple_GetItem(profiles, i);
        PyObject *label = names ? PyTuple_GetItem(labels, i) : NULL;
        if (Py_TYPE(one) != state->profile || (names && !label) || (label && !(names[i] = plain(label)))) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "profiles, and a label for each");
            goto out;
        }
        each[i] = ((struct profile *)one)->handle;
    }
    int rc = rk_profile_merge(each, names, (size_t)n, &made, &e);
    result = profile_wrap(state, rc, &e, made);
out:
    free(each);
    free(names);
    return result;
}

static PyObject *profile_summary(PyObject *o, PyObject *unused)
{
    struct rk_profile_summary s = {.size = sizeof s};

    (void)unused;
    rk_profile_summary(((struct profile *)o)->handle, &s);
    return Py_BuildValue(
        "{sNsNsIsKsKsKsKsKsKsKsNsNsNsKsKsKsKsK}", "event", text(s.event), "unit", text(s.unit), "events",
        (unsigned)s.events, "samples", (unsigned long long)s.samples, "weight", (unsigned long long)s.weight,
        "unnamed", (unsigned long long)s.unnamed, "threads", (unsigned long long)s.threads, "first_time",
        (unsigned long long)s.first_time, "last_time", (unsigned long long)s.last_time, "duration",
        (unsigned long long)s.duration, "lost", loss_number(&s.loss, RK_LOSS_LOST, s.loss.lost), "skipped",
        loss_number(&s.loss, RK_LOSS_SKIPPED, s.loss.skipped), "cut", PyBool_FromLong((long)s.cut),
        "slice_ns", (unsigned long long)s.slice_ns, "stacks_whole", (unsigned long long)s.stacks_whole,
        "stacks_cut", (unsigned long long)s.stacks_cut, "stacks_broken", (unsigned long long)s.stacks_broken,
        "made", (unsigned long long)s.made);
}

/* Puts an array as a Column under its name. */
static int put_column(PyObject *o, PyObject *dict, const char *name, const void *data, size_t n,
                      const char *format, Py_ssize_t bytes)
{
    struct column *c = make(state_of(o)->column);

    if (!c)
        return -1;
    Py_INCREF(o);
    c->profile = o, c->data = data, c->n = (Py_ssize_t)n, c->format = format, c->bytes = bytes;
    int rc = PyDict_SetItemString(dict, name, (PyObject *)c);
    Py_DECREF(c);
    return rc;
}

/* columns(): {name: Column}, and "text", a list of strings */
static PyObject *profile_columns(PyObject *o, PyObject *unused)
{
    struct rk_profile_columns c = {.size = sizeof c};
    PyObject *dict = PyDict_New(), *texts = NULL;

    (void)unused;
    rk_profile_columns(((struct profile *)o)->handle, &c);
#define PUT(field, count, format, bytes) put_column(o, dict, #field, c.field, c.count, format, bytes) < 0
    if (!dict || !(texts = PyList_New((Py_ssize_t)c.text_n)) || PUT(frame_symbol, frame_n, "I", 4) ||
        PUT(frame_module, frame_n, "I", 4) || PUT(frame_path, frame_n, "I", 4) ||
        PUT(frame_file, frame_n, "I", 4) || PUT(frame_line, frame_n, "I", 4) ||
        PUT(frame_miss, frame_n, "I", 4) || PUT(frame_flags, frame_n, "I", 4) ||
        PUT(frame_function, frame_n, "I", 4) || PUT(node_parent, node_n, "I", 4) ||
        PUT(node_frame, node_n, "I", 4) || PUT(thread_pid, thread_n, "i", 4) ||
        PUT(thread_tid, thread_n, "i", 4) || PUT(thread_name, thread_n, "I", 4) ||
        PUT(thread_source, thread_n, "I", 4) || PUT(source_name, source_n, "I", 4) ||
        PUT(event_name, event_n, "I", 4) || PUT(event_unit, event_n, "I", 4) ||
        PUT(event_samples, event_n, "Q", 8) || PUT(event_weight, event_n, "Q", 8) ||
        PUT(cgroup_id, cgroup_n, "Q", 8) || PUT(cgroup_path, cgroup_n, "I", 4) ||
        PUT(sample_node, sample_n, "I", 4) || PUT(sample_thread, sample_n, "I", 4) ||
        PUT(sample_event, sample_n, "I", 4) || PUT(sample_cgroup, sample_n, "I", 4) ||
        PUT(sample_cpu, sample_n, "I", 4) || PUT(sample_time, sample_n, "Q", 8) ||
        PUT(sample_weight, sample_n, "Q", 8) || PUT(sample_count, sample_n, "Q", 8))
        goto failed;
#undef PUT
    for (size_t i = 0; i < c.text_n; i++) {
        PyObject *one = text(c.text[i]);
        if (!one || PyList_SetItem(texts, (Py_ssize_t)i, one) < 0)
            goto failed;
    }
    if (PyDict_SetItemString(dict, "text", texts) < 0)
        goto failed;
    Py_DECREF(texts);
    return dict;
failed:
    Py_XDECREF(texts);
    Py_XDECREF(dict);
    return NULL;
}

/* aggregate(per): [(name, key, self, total, self_samples, total_samples)], hottest first */
static PyObject *profile_aggregate(PyObject *o, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_aggregate *a = NULL;
    unsigned per;
    int rc;

    if (!PyArg_ParseTuple(args, "I", &per))
        return NULL;
    Py_BEGIN_ALLOW_THREADS rc = rk_profile_aggregate(((struct profile *)o)->handle, per, &a, &e);
    Py_END_ALLOW_THREADS if (rc < 0) return raise_error(state_of(o), rc, &e);
    PyObject *list = PyList_New((Py_ssize_t)a->n);
    for (size_t i = 0; list && i < a->n; i++) {
        PyObject *row =
            Py_BuildValue("NIKKKK", text(a->name[i]), (unsigned)a->key[i], (unsigned long long)a->self[i],
                          (unsigned long long)a->total[i], (unsigned long long)a->self_samples[i],
                          (unsigned long long)a->total_samples[i]);
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row) < 0)
            Py_CLEAR(list);
    }
    rk_aggregate_free(a);
    return list;
}

/* Words of a filter, by name. */
static const struct {
    const char *name;
    size_t offset;
} words[] = {
#define WORD(f)                                   \
    {                                             \
#f, offsetof(struct rk_profile_filter, f) \
    }
    WORD(event),  WORD(name),        WORD(cgroup),      WORD(source),  WORD(module),
    WORD(symbol), WORD(self_module), WORD(self_symbol), WORD(callees), WORD(callers),
#undef WORD
};

/* A list of numbers under `name`, or NULL. -1 with an exception. */
static int take_numbers(PyObject *dict, const char *name, int32_t **ret, size_t *ret_n)
{
    PyObject *list = PyDict_GetItemString(dict, name);
    Py_ssize_t n = list ? PyTuple_Size(list) : 0;

    if (n < 0)
        return -1;
    *ret = n ? calloc((size_t)n, sizeof **ret) : NULL, *ret_n = (size_t)n;
    if (n && !*ret) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        long number = PyLong_AsLong(PyTuple_GetItem(list, i));
        if (number < INT32_MIN || number > INT32_MAX || PyErr_Occurred()) {
            if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError))
                PyErr_Format(PyExc_ValueError, "%s: a number that none has", name);
            return -1;
        }
        (*ret)[i] = (int32_t)number;
    }
    return 0;
}

static int take_moment(PyObject *dict, const char *name, uint64_t *ret)
{
    PyObject *number = PyDict_GetItemString(dict, name);

    if (number)
        *ret = PyLong_AsUnsignedLongLong(number);
    return PyErr_Occurred() ? -1 : 0;
}

/* select({word: text, "from": ns, "to": ns, "processes": (…), "threads": (…), "cpus": (…), "flags": bits}) */
static PyObject *profile_select(PyObject *o, PyObject *args)
{
    struct rk_profile_filter f = {.size = sizeof f};
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *made = NULL;
    int32_t *processes = NULL, *threads = NULL, *cpus = NULL;
    PyObject *dict, *result = NULL;
    uint64_t flags = 0;

    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &dict))
        return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        PyObject *word = PyDict_GetItemString(dict, words[i].name);
        const char *bytes = word ? plain(word) : NULL;
        if (word && !bytes)
            return NULL;
        memcpy((char *)&f + words[i].offset, &bytes, sizeof bytes);
    }
    if (take_moment(dict, "from", &f.from) < 0 || take_moment(dict, "to", &f.to) < 0 ||
        take_moment(dict, "flags", &flags) < 0 ||
        take_numbers(dict, "processes", &processes, &f.process_n) < 0 ||
        take_numbers(dict, "threads", &threads, &f.thread_n) < 0 ||
        take_numbers(dict, "cpus", &cpus, &f.cpu_n) < 0)
        goto out;
    f.flags = (uint32_t)flags;
    f.processes = processes, f.threads = threads, f.cpus = (const uint32_t *)cpus;
    int rc = rk_profile_select(((struct profile *)o)->handle, &f, &made, &e);
    result = profile_wrap(state_of(o), rc, &e, made);
out:
    free(processes);
    free(threads);
    free(cpus);
    return result;
}

/* diff(before, per, normalise): (scale, [(name, module, file, line, change, change_total, before, after)]) */
static PyObject *profile_diff(PyObject *o, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_profile_diff *d = NULL;
    unsigned per, normalise;
    PyObject *before;

    if (!PyArg_ParseTuple(args, "O!II", state_of(o)->profile, &before, &per, &normalise))
        return NULL;
    int rc = rk_profile_diff(((struct profile *)before)->handle, ((struct profile *)o)->handle, per,
                             normalise, &d, &e);
    if (rc < 0)
        return raise_error(state_of(o), rc, &e);
    PyObject *list = PyList_New((Py_ssize_t)d->n);
    for (size_t i = 0; list && i < d->n; i++) {
        PyObject *row = Py_BuildValue("NNNIddKK", text(d->name[i]), text(d->module ? d->module[i] : NULL),
                                      text(d->file ? d->file[i] : NULL), d->line ? (unsigned)d->line[i] : 0u,
                                      d->change[i], d->change_total[i], (unsigned long long)d->before[i],
                                      (unsigned long long)d->after[i]);
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row) < 0)
            Py_CLEAR(list);
    }
    PyObject *result = list ? Py_BuildValue("dN", d->scale, list) : NULL;
    rk_profile_diff_free(d);
    return result;
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
    Py_BEGIN_ALLOW_THREADS rc = rk_profile_export(((struct profile *)o)->handle, format, &sink, &e);
    Py_END_ALLOW_THREADS if (rc < 0)
    {
        free(bytes.data);
        return raise_error(state_of(o), rc, &e);
    }
    return gathered_take(&bytes);
}

static PyMethodDef methods[] = {
    {"file", profile_file, METH_VARARGS | METH_CLASS, "file(path, event, no_inline, times, threads)"},
    {"merge", profile_merge, METH_VARARGS | METH_CLASS, "merge(profiles, labels)"},
    {"summary", profile_summary, METH_NOARGS, "Samples, weight, loss, times."},
    {"columns", profile_columns, METH_NOARGS, "{name: Column}"},
    {"aggregate", profile_aggregate, METH_VARARGS, "aggregate(per): rows of rk_aggregate."},
    {"select", profile_select, METH_VARARGS, "select(filter): a part of it."},
    {"diff", profile_diff, METH_VARARGS, "diff(before, per, normalise): (scale, rows)"},
    {"export", profile_export, METH_VARARGS, "export(format): bytes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, profile_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Profile",
    .basicsize = sizeof(struct profile),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

static void column_dealloc(PyObject *o)
{
    Py_XDECREF(((struct column *)o)->profile);
    unmake(o);
}

static int column_buffer(PyObject *o, Py_buffer *view, int flags)
{
    struct column *c = (struct column *)o;
    static char nothing;
    void *data = (void *)(uintptr_t)c->data;

    if (PyBuffer_FillInfo(view, o, data ? data : &nothing, c->n * c->bytes, 1, flags) < 0)
        return -1;
    view->itemsize = c->bytes;
    if (flags & PyBUF_FORMAT)
        view->format = (char *)(uintptr_t)c->format;
    if (flags & PyBUF_ND)
        view->shape = &c->n;
    return 0;
}

static PyType_Slot column_slots[] = {
    {Py_tp_dealloc, column_dealloc},
    {Py_bf_getbuffer, column_buffer},
    {0, NULL},
};

static PyType_Spec column_spec = {
    .name = "reckon._native.Column",
    .basicsize = sizeof(struct column),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = column_slots,
};

int profile_ready(PyObject *module, struct state *state)
{
    state->column = add_type(module, &column_spec);
    state->profile = add_type(module, &spec);
    return state->column && state->profile ? 0 : -1;
}
