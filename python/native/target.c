/* Target: who is measured. Its constructors are functions of the class. */
#include "native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void target_dealloc(PyObject *o)
{
    struct target *self = (struct target *)o;

    rk_target_free(self->handle);
    Py_XDECREF(self->host);
    unmake(o);
}

/* A target that `rc` says was made; `host` (may be NULL) is kept alive. */
static PyObject *wrap(PyObject *type, int rc, const struct rk_error *e, struct rk_target *handle,
                      PyObject *host)
{
    if (rc < 0)
        return raise_error(state_of_type((PyTypeObject *)type), rc, e);
    struct target *self = make((PyTypeObject *)type);
    if (!self) {
        rk_target_free(handle);
        return NULL;
    }
    self->handle = handle;
    Py_XINCREF(host);
    self->host = host;
    return (PyObject *)self;
}

static PyObject *target_self(PyObject *type, PyObject *unused)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *t = NULL;
    int rc = rk_target_self(&t, &e);

    (void)unused;
    return wrap(type, rc, &e, t, NULL);
}

static int take_ids(PyObject *o, int32_t **ret, Py_ssize_t *ret_n)
{
    Py_ssize_t n = PyTuple_Size(o);
    int32_t *ids = n > 0 ? malloc((size_t)n * sizeof *ids) : NULL;

    if (n < 0 || (n > 0 && !ids)) {
        if (n > 0)
            PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        long id = PyLong_AsLong(PyTuple_GetItem(o, i));
        if (id < 1 || id > INT32_MAX) {
            if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError))
                PyErr_Format(PyExc_ValueError, "%S is no id of a process or thread", PyTuple_GetItem(o, i));
            free(ids);
            return -1;
        }
        ids[i] = (int32_t)id;
    }
    *ret = ids, *ret_n = n;
    return 0;
}

/* tasks(kind, ids): "process", "thread", "tree" */
static PyObject *target_tasks(PyObject *type, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *t = NULL;
    const char *kind;
    PyObject *tuple;
    int32_t *ids;
    Py_ssize_t n;
    int rc;

    if (!PyArg_ParseTuple(args, "sO!", &kind, &PyTuple_Type, &tuple) || take_ids(tuple, &ids, &n) < 0)
        return NULL;
    if (n == 0 || (kind[1] == 'r' && kind[0] == 't' && n != 1)) {
        free(ids);
        return PyErr_Format(PyExc_ValueError, "%s",
                            n ? "a tree has one root" : "no process and no thread was named");
    }
    if (strcmp(kind, "process") == 0)
        rc = n == 1 ? rk_target_process(ids[0], &t, &e) : rk_target_processes(ids, (size_t)n, &t, &e);
    else if (strcmp(kind, "tree") == 0)
        rc = rk_target_tree(ids[0], &t, &e);
    else
        rc = n == 1 ? rk_target_thread(ids[0], &t, &e) : rk_target_threads(ids, (size_t)n, &t, &e);
    free(ids);
    return wrap(type, rc, &e, t, NULL);
}

/* cpus(host, list) */
static PyObject *target_cpus(PyObject *type, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *t = NULL;
    const char *list;
    PyObject *host;

    if (!PyArg_ParseTuple(args, "O!z", state_of_type((PyTypeObject *)type)->host, &host, &list))
        return NULL;
    int rc = rk_target_cpus(((struct host *)host)->handle, list, &t, &e);
    return wrap(type, rc, &e, t, host);
}

/* cgroups(host, paths, cpus): paths are bytes */
static PyObject *target_cgroups(PyObject *type, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *t = NULL;
    PyObject *host, *paths;
    const char *cpus;

    if (!PyArg_ParseTuple(args, "O!O!z", state_of_type((PyTypeObject *)type)->host, &host, &PyTuple_Type,
                          &paths, &cpus))
        return NULL;
    Py_ssize_t n = PyTuple_Size(paths);
    const char **list = calloc((size_t)n + 1, sizeof *list);
    if (!list)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++)
        if (!take_path(PyTuple_GetItem(paths, i), &list[i])) {
            free(list);
            return NULL;
        }
    int rc = rk_target_cgroups(((struct host *)host)->handle, list, (size_t)n, cpus, &t, &e);
    free(list);
    return wrap(type, rc, &e, t, host);
}

/* A NULL-terminated array of the bytes in a tuple, borrowed from it. */
static char **words(PyObject *tuple)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    char **list = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *list);

    if (n >= 0 && !list)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; list && i < n; i++)
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(tuple, i), &list[i], NULL) < 0) {
            free(list);
            return NULL;
        }
    return list;
}

/* command(argv, environment, directory, in, out, err): tuples of bytes, bytes or None; descriptors or -1 */
static PyObject *target_command(PyObject *type, PyObject *args)
{
    struct rk_command_options options = {.size = sizeof options, .flags = RK_COMMAND_STD_FDS};
    struct rk_error e = {.size = sizeof e};
    struct rk_target *t = NULL;
    PyObject *argv, *environment;
    char **list, **variables = NULL, *directory;
    int in, out, err, rc;

    if (!PyArg_ParseTuple(args,
                          "O!OO&ii"
                          "i",
                          &PyTuple_Type, &argv, &environment, take_path, &directory, &in, &out, &err))
        return NULL;
    if (PyTuple_Size(argv) == 0)
        return PyErr_Format(PyExc_ValueError, "no command to run");
    options.directory = directory;
    options.in = in, options.out = out, options.err = err;
    if (!(list = words(argv)))
        return NULL;
    if (environment != Py_None && !(variables = words(environment))) {
        free(list);
        return NULL;
    }
    options.environment = variables;
    rc = rk_target_command(list, &options, &t, &e);
    free(list);
    free(variables);
    return wrap(type, rc, &e, t, NULL);
}

static struct rk_target *usable(PyObject *o)
{
    struct target *self = (struct target *)o;

    if (self->busy) {
        raise_busy("target");
        return NULL;
    }
    if (!self->handle)
        raise_closed("target");
    return self->handle;
}

/* on_cpus(host, list or None): splits threads by CPU */
static PyObject *target_on_cpus(PyObject *o, PyObject *args)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *t = usable(o);
    const char *list;
    PyObject *host;

    if (!t || !PyArg_ParseTuple(args, "O!z", state_of(o)->host, &host, &list))
        return NULL;
    int rc = rk_target_on_cpus(t, ((struct host *)host)->handle, list, &e);
    if (rc < 0)
        return raise_error(state_of(o), rc, &e);
    Py_RETURN_NONE;
}

static PyObject *target_start(PyObject *o, PyObject *unused)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *t = usable(o);
    int rc = t ? rk_target_start(t, &e) : -1;

    (void)unused;
    if (!t)
        return NULL;
    if (rc < 0)
        return raise_error(state_of(o), rc, &e);
    Py_RETURN_NONE;
}

/* Without a bell a signal that comes right before the wait does not end it, so that it is looked for now and then. */
#define LOOK_NS UINT64_C(100000000)

/* Waits for the end: 1 ended, 0 not yet, -errno. */
static int wait_until(struct rk_target *t, int bell, uint64_t deadline)
{
    int fd = rk_target_fd(t);
    uint64_t now = now_ns(), look = now + LOOK_NS;

    if (bell < 0 || fd < 0)
        deadline = deadline < look ? deadline : look;
    if (fd < 0) /* before Linux 5.3: by milliseconds */
        return rk_target_wait(t, deadline > now ? (int)((deadline - now + 999999) / 1000000) : 0, NULL);
    int rc = wait_readable(fd, bell, deadline);
    return rc == 1 ? rk_target_wait(t, -1, NULL) : rc; /* readable: it is a moment away */
}

/* wait(deadline_ns, bell=None): True: it has ended; a signal's handler may raise */
static PyObject *target_wait(PyObject *o, PyObject *args)
{
    struct rk_target *t = usable(o);
    unsigned long long deadline;
    PyObject *bell = NULL;
    int rc;

    if (!t || !PyArg_ParseTuple(args, "K|O!", &deadline, state_of(o)->bell, &bell))
        return NULL;
    do {
        ((struct target *)o)->busy = 1;
        Py_BEGIN_ALLOW_THREADS rc = wait_until(t, bell_fd(bell), deadline);
        Py_END_ALLOW_THREADS((struct target *)o)->busy = 0;
        bell_hush(bell);
        if (rc != 1 && PyErr_CheckSignals() < 0)
            return NULL;
    } while (rc == -EINTR || (rc == 0 && now_ns() < deadline));
    if (rc == -ECHILD)
        rc = 1; /* it has ended; another wait, or a SIGCHLD that is ignored, has taken how */
    if (rc < 0)
        return raise_error(state_of(o), rc, NULL);
    return PyBool_FromLong(rc);
}

/* exit(): None while it runs, else (status, signal, core_dumped, wall_ns, user_ns, system_ns, peak_rss) */
static PyObject *target_exit(PyObject *o, PyObject *unused)
{
    struct rk_exit x = {.size = sizeof x};
    struct rk_target *t = usable(o);
    int rc = t ? rk_target_wait(t, 0, &x) : -1;

    (void)unused;
    if (!t)
        return NULL;
    if (rc < 0)
        return raise_error(state_of(o), rc, NULL);
    if (rc == 0)
        Py_RETURN_NONE;
    return Py_BuildValue("iiiKKKK", (int)x.status, (int)x.signal, (int)x.core_dumped,
                         (unsigned long long)x.wall_ns, (unsigned long long)x.user_ns,
                         (unsigned long long)x.system_ns, (unsigned long long)x.peak_rss);
}

static PyObject *target_pid(PyObject *o, void *unused)
{
    struct rk_target *t = ((struct target *)o)->handle;

    (void)unused;
    return t ? PyLong_FromLong(rk_target_pid(t)) : raise_closed("target");
}

static PyObject *target_fileno(PyObject *o, PyObject *unused)
{
    struct rk_target *t = usable(o);
    int fd = t ? rk_target_fd(t) : -1;

    (void)unused;
    if (!t)
        return NULL;
    return fd < 0 ? raise_error(state_of(o), fd, NULL) : PyLong_FromLong(fd);
}

static PyObject *target_close(PyObject *o, PyObject *unused)
{
    struct target *self = (struct target *)o;

    (void)unused;
    if (self->busy)
        return raise_busy("target");
    if (self->users)
        return PyErr_Format(PyExc_RuntimeError, "a recording waits for this target: close that first");
    self->handle = rk_target_free(self->handle);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"self", target_self, METH_NOARGS | METH_CLASS, "The calling thread."},
    {"tasks", target_tasks, METH_VARARGS | METH_CLASS, "tasks('process' | 'thread' | 'tree', ids)"},
    {"cpus", target_cpus, METH_VARARGS | METH_CLASS, "cpus(host, list or None)"},
    {"cgroups", target_cgroups, METH_VARARGS | METH_CLASS, "cgroups(host, paths, cpus or None)"},
    {"command", target_command, METH_VARARGS | METH_CLASS,
     "command(argv, environment, directory, in, out, err)"},
    {"on_cpus", target_on_cpus, METH_VARARGS, "on_cpus(host, list or None): splits its threads by CPU."},
    {"start", target_start, METH_NOARGS, "Lets the command run."},
    {"wait", target_wait, METH_VARARGS, "wait(deadline_ns, bell): whether it has ended by then."},
    {"exit", target_exit, METH_NOARGS, "How it ended; None while it runs."},
    {"fileno", target_fileno, METH_NOARGS, "A descriptor that polls readable at the end."},
    {"close", target_close, METH_NOARGS, "Frees it."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"pid", target_pid, NULL, "Its id; 0 for the calling thread, -1 for CPUs and cgroups.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, target_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "reckon._native.Target",
    .basicsize = sizeof(struct target),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int target_ready(PyObject *module, struct state *state)
{
    return (state->target = add_type(module, &spec)) ? 0 : -1;
}
