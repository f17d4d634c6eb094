/* Host: PMUs, events, the doctor's checks, as tuples; reckon/_machine.py makes them pleasant. */
#include "native.h"

#include <errno.h>
#include <stdlib.h>

static PyObject *host_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"root", NULL};
    PyObject *root = NULL;
    struct rk_error e = {.size = sizeof e};

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&", names, PyUnicode_FSConverter, &root))
        return NULL;
    struct host *self = make(type);
    if (self) {
        int rc = rk_host_open(root ? PyBytes_AsString(root) : NULL, &self->handle, &e);
        if (rc < 0) {
            raise_error(state_of_type(type), rc, &e);
            Py_CLEAR(self);
        }
    }
    Py_XDECREF(root);
    return (PyObject *)self;
}

static void host_dealloc(PyObject *o)
{
    struct host *self = (struct host *)o;

    rk_host_free(self->handle);
    unmake(o);
}

static PyObject *host_kernel(PyObject *o, PyObject *unused)
{
    (void)unused;
    return text(rk_host_kernel(((struct host *)o)->handle));
}

static PyObject *host_cpus(PyObject *o, PyObject *unused)
{
    const int32_t *cpus;
    size_t n;
    int rc = rk_host_cpus(((struct host *)o)->handle, &cpus, &n);

    (void)unused;
    if (rc < 0)
        return raise_error(state_of(o), rc, NULL);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++)
        PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromLong(cpus[i]));
    return list;
}

static PyObject *host_pmus(PyObject *o, PyObject *unused)
{
    struct rk_host *h = ((struct host *)o)->handle;
    struct rk_pmu pmu = {.size = sizeof pmu};
    size_t n = rk_host_pmu_count(h);

    (void)unused;
    if (n == 0) { /* there is always one, if the list was readable */
        int rc = rk_host_pmu_get(h, 0, &pmu);
        if (rc < 0 && rc != -ERANGE)
            return raise_error(state_of(o), rc, NULL);
    }
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < n; i++) {
        if (rk_host_pmu_get(h, i, &pmu) < 0)
            continue; /* its type can't be read: a file that vanished */
        PyObject *row =
            Py_BuildValue("NIN", text(pmu.name), (unsigned)pmu.type, PyBool_FromLong((long)pmu.core));
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *entry_row(const struct rk_list_entry *x)
{
    static const char *const able[] = {"yes", "no", "untried"};

    return Py_BuildValue("NNNNdNsNNsiI(KKKKK)", text(x->name), text(x->group), text(x->about), text(x->unit),
                         x->scale, text(x->encoding), x->able <= RK_ABLE_UNTRIED ? able[x->able] : "untried",
                         text(x->what), text(x->remedy), x->able == RK_ABLE_NO ? rk_cause_name(x->cause) : "",
                         (int)x->form, (unsigned)x->type, (unsigned long long)x->config,
                         (unsigned long long)x->config1, (unsigned long long)x->config2,
                         (unsigned long long)x->config3, (unsigned long long)x->config4);
}

/* events(words, flags, pmu) */
static PyObject *host_events(PyObject *o, PyObject *args)
{
    struct rk_list_options options = {.size = sizeof options};
    struct rk_error e = {.size = sizeof e};
    struct rk_list *list = NULL;
    PyObject *words, *rows = NULL;
    unsigned flags;
    const char *pmu, *word[16];

    if (!PyArg_ParseTuple(args, "O!Iz", &PyTuple_Type, &words, &flags, &pmu))
        return NULL;
    Py_ssize_t n = PyTuple_Size(words);
    if (n > 16)
        return PyErr_Format(PyExc_ValueError, "at most 16 words");
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(word[i] = plain(PyTuple_GetItem(words, i))))
            return NULL;
    options.words = word, options.words_n = (size_t)n, options.flags = flags, options.pmu = pmu;
    int rc = rk_list_open(((struct host *)o)->handle, &options, &list, &e);
    if (rc < 0)
        return raise_error(state_of(o), rc, &e);
    rows = PyList_New(0);
    for (size_t i = 0; rows && i < rk_list_count(list); i++) {
        struct rk_list_entry entry = {.size = sizeof entry};
        rk_list_get(list, i, &entry);
        PyObject *row = entry_row(&entry);
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    rk_list_free(list);
    return rows;
}

static PyObject *host_doctor(PyObject *o, PyObject *unused)
{
    static const char *const verdicts[] = {"yes", "partly", "no"};
    struct rk_error e = {.size = sizeof e};
    struct rk_doctor *doctor = NULL;
    int rc = rk_doctor_run(((struct host *)o)->handle, &doctor, &e);

    (void)unused;
    if (rc < 0)
        return raise_error(state_of(o), rc, &e);
    PyObject *rows = PyList_New(0);
    for (size_t i = 0; rows && i < rk_doctor_check_count(doctor); i++) {
        struct rk_check c = {.size = sizeof c};
        rk_doctor_check_get(doctor, i, &c);
        PyObject *row = Py_BuildValue(
            "NNsNNNs", text(c.name), text(c.title), verdicts[c.verdict <= 2 ? c.verdict : 2], text(c.what),
            text(c.remedy), text(c.keep), c.verdict == RK_VERDICT_YES ? "" : rk_cause_name(c.cause));
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    rk_doctor_free(doctor);
    return rows;
}

static PyMethodDef methods[] = {
    {"kernel", host_kernel, METH_NOARGS, "The kernel's release."},
    {"cpus", host_cpus, METH_NOARGS, "Numbers of the CPUs that are online."},
    {"pmus", host_pmus, METH_NOARGS, "[(name, type, core)]"},
    {"events", host_events, METH_VARARGS, "events(words, flags, pmu): rows of rk_list_entry."},
    {"doctor", host_doctor, METH_NOARGS, "[(name, title, verdict, what, remedy, keep, cause)]"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, host_new},
    {Py_tp_dealloc, host_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Host",
    .basicsize = sizeof(struct host),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int host_ready(PyObject *module, struct state *state)
{
    return (state->host = add_type(module, &spec)) ? 0 : -1;
}
