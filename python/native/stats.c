/* Statistics of repeated measurements: reckon/stats.h. */
#include "native.h"

#include <stdlib.h>

static double *numbers(PyObject *sequence, Py_ssize_t *ret_n)
{
    PyObject *list = PySequence_List(sequence);
    Py_ssize_t n = list ? PyList_Size(list) : -1;
    double *values = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *values);

    if (n >= 0 && !values)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; values && i < n; i++) {
        values[i] = PyFloat_AsDouble(PyList_GetItem(list, i));
        if (PyErr_Occurred()) {
            free(values);
            values = NULL;
        }
    }
    Py_XDECREF(list);
    *ret_n = n;
    return values;
}

static int summarise(PyObject *sequence, struct rk_summary *ret)
{
    Py_ssize_t n;
    double *values = numbers(sequence, &n);

    if (!values)
        return -1;
    *ret = (struct rk_summary){.size = sizeof *ret};
    int rc = rk_stats_summary(values, values, (size_t)n, ret);
    free(values);
    if (rc < 0)
        PyErr_SetString(PyExc_ValueError, "one finite number at least is needed");
    return rc;
}

static PyObject *summary(PyObject *module, PyObject *sequence)
{
    struct rk_summary s;

    (void)module;
    if (summarise(sequence, &s) < 0)
        return NULL;
    return Py_BuildValue("KKdddddddd", (unsigned long long)s.n, (unsigned long long)s.outliers, s.mean, s.sd,
                         s.bound, s.min, s.q1, s.median, s.q3, s.max);
}

/* difference(of, reference): (ratio, low, high, p, verdict in words) */
static PyObject *difference(PyObject *module, PyObject *args)
{
    struct rk_difference d = {.size = sizeof d};
    struct rk_summary a, b;
    PyObject *of, *reference;
    const char *noun;
    char words[160];

    (void)module;
    if (!PyArg_ParseTuple(args, "OOs", &of, &reference, &noun) || summarise(of, &a) < 0 ||
        summarise(reference, &b) < 0)
        return NULL;
    rk_stats_difference(&a, &b, &d);
    rk_stats_verdict(&d, d.p, noun, 1, words, sizeof words);
    return Py_BuildValue("ddddN", d.ratio, d.ratio_low, d.ratio_high, d.p, text(words));
}

static PyMethodDef functions[] = {
    {"summary", summary, METH_O, "(n, outliers, mean, sd, bound, min, q1, median, q3, max)"},
    {"difference", difference, METH_VARARGS, "difference(of, reference, noun): (ratio, low, high, p, words)"},
    {NULL, NULL, 0, NULL},
};

int stats_ready(PyObject *module, struct state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, functions);
}
