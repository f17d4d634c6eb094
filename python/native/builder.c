/* Builder: the records of a live stream become a Profile. */
#include "native.h"

#include <errno.h>

#define BATCH 256 /* records between two releases */

struct builder {
    PyObject_HEAD struct rk_profile_builder *handle;
};

static void builder_dealloc(PyObject *o)
{
    rk_profile_builder_free(((struct builder *)o)->handle);
    unmake(o);
}

/* Builder(no_inline) */
static PyObject *builder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct rk_profile_options options = {.size = sizeof options};
    struct rk_error e = {.size = sizeof e};

    (void)kwargs;
    unsigned no_inline;
    if (!PyArg_ParseTuple(args, "I", &no_inline))
        return NULL;
    options.flags = no_inline ? RK_PROFILE_NO_INLINE : 0;
    struct builder *self = make(type);
    int rc = self ? rk_profile_builder_open(&options, &self->handle, &e) : 0;
    if (rc < 0) {
        raise_error(state_of_type(type), rc, &e);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* Feeds up to `max` records that are due. Returns how many, or -errno. A damaged one is left out. */
static int64_t feed(struct rk_profile_builder *builder, struct rk_stream *stream, uint64_t max)
{
    const struct rk_record *record;
    uint64_t n = 0;
    int rc = 1;

    for (; n < max && rc >= 0; n++) {
        rc = rk_stream_next(stream, &record);
        if (rc == 0)
            break;
        if (rc == 1)
            rc = rk_profile_builder_feed(builder, stream, record);
        if (rc == -EBADMSG)
            rc = 0;
        if (n % BATCH == BATCH - 1)
            rk_stream_release(stream);
    }
    rk_stream_release(stream);
    return rc < 0 ? rc : (int64_t)n;
}

/* feed(stream, max): how many records were taken; fewer than max: no more are due now */
static PyObject *builder_feed(PyObject *o, PyObject *args)
{
    struct rk_profile_builder *builder = ((struct builder *)o)->handle;
    unsigned long long max;
    PyObject *stream;
    int64_t n;

    if (!PyArg_ParseTuple(args, "O!K", state_of(o)->stream, &stream, &max))
        return NULL;
    if (!builder)
        return raise_closed("builder");
    struct rk_stream *from = stream_usable(stream);
    if (!from)
        return NULL;
    ((struct builder *)o)->handle = NULL; /* nobody else's meanwhile */
    stream_lend(stream, 1);
    Py_BEGIN_ALLOW_THREADS n = feed(builder, from, max);
    Py_END_ALLOW_THREADS stream_lend(stream, 0);
    ((struct builder *)o)->handle = builder;
    if (n < 0) {
        struct rk_error e = {.size = sizeof e};
        int known = rk_stream_explain(from, &e) == 0 && e.code == n;
        return raise_error(state_of(o), (int)n, known ? &e : NULL);
    }
    return PyLong_FromLongLong(n);
}

/* finish(stream): a Profile; the builder is closed then */
static PyObject *builder_finish(PyObject *o, PyObject *args)
{
    struct rk_profile_builder *builder = ((struct builder *)o)->handle;
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *made = NULL;
    PyObject *stream;
    int rc;

    if (!PyArg_ParseTuple(args, "O!", state_of(o)->stream, &stream))
        return NULL;
    if (!builder)
        return raise_closed("builder");
    struct rk_stream *from = stream_usable(stream);
    if (!from)
        return NULL;
    ((struct builder *)o)->handle = NULL;
    stream_lend(stream, 1);
    Py_BEGIN_ALLOW_THREADS rc = rk_profile_builder_finish(builder, from, &made, &e);
    rk_profile_builder_free(builder);
    Py_END_ALLOW_THREADS stream_lend(stream, 0);
    return profile_wrap(state_of(o), rc, &e, made);
}

static PyMethodDef methods[] = {
    {"feed", builder_feed, METH_VARARGS, "feed(stream, max): how many records were taken."},
    {"finish", builder_finish, METH_VARARGS, "finish(stream): a Profile."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, builder_new},
    {Py_tp_dealloc, builder_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Builder",
    .basicsize = sizeof(struct builder),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int builder_ready(PyObject *module, struct state *state)
{
    (void)state;
    PyTypeObject *type = add_type(module, &spec);
    Py_XDECREF((PyObject *)type);
    return type ? 0 : -1;
}
