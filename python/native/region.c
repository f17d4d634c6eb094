/* Region: reckon/region.h, so that a program's Python parts stand in the same report as its C parts. */
#include "native.h"

struct region {
    PyObject_HEAD struct rk_region *handle;
};

static PyObject *region_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    const char *name;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    struct region *self = make(type);
    if (self)
        self->handle = rk_region_named(name);
    return (PyObject *)self;
}

static PyObject *region_enter(PyObject *o, PyObject *unused)
{
    (void)unused;
    rk_region_begin(((struct region *)o)->handle); /* what failed is in the report */
    Py_INCREF(o);
    return o;
}

static PyObject *region_exit(PyObject *o, PyObject *unused)
{
    (void)unused;
    rk_region_end(((struct region *)o)->handle);
    Py_RETURN_NONE;
}

static PyObject *region_armed(PyObject *type, PyObject *unused)
{
    (void)type, (void)unused;
    return PyBool_FromLong(rk_region_armed());
}

static void region_dealloc(PyObject *o)
{
    unmake(o);
}

static PyMethodDef methods[] = {
    {"__enter__", region_enter, METH_NOARGS, "Begins it."},
    {"__exit__", region_exit, METH_VARARGS, "Ends it."},
    {"armed", region_armed, METH_NOARGS | METH_CLASS, "Whether RECKON_REGIONS asks for regions."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, region_new},
    {Py_tp_dealloc, region_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Region",
    .basicsize = sizeof(struct region),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int region_ready(PyObject *module, struct state *state)
{
    return (state->region = add_type(module, &spec)) ? 0 : -1;
}
