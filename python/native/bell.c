/*
 * Bell: waiting such that every signal is seen. Ctrl-C ends a wait, also where it came right before the sleep began, or to
 * another thread of this process.
 *
 *     with Bell() as bell:
 *         bell.until(deadline, fd)
 *
 * While it is entered in the main thread, Python's handler of signals writes into a pipe of it, whose other end each wait polls
 * too (signal.set_wakeup_fd). In other threads it does nothing: no handler in Python runs there. All of it is in C, so
 * that a handler that raises can't leave it half done.
 *
 * Flag: an eventfd that is readable from set() on; whoever has it may wait for it, and it closes with the last one.
 */
#include "native.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct bell {
    PyObject_HEAD int ends[2]; /* -1: it is not entered */
    PyObject *set_wakeup_fd, *before;
    char rung[64]; /* what signals have written, for whom it was meant before */
    size_t n;
};

static int is_bell(PyObject *o)
{
    return o && o != Py_None;
}

int bell_fd(PyObject *o)
{
    return is_bell(o) ? ((struct bell *)o)->ends[0] : -1;
}

void bell_hush(PyObject *o)
{
    struct bell *self = (struct bell *)o;
    char lost[256];
    ssize_t n;

    if (bell_fd(o) < 0)
        return;
    while ((n = self->n < sizeof self->rung
                    ? read(self->ends[0], self->rung + self->n, sizeof self->rung - self->n)
                    : read(self->ends[0], lost, sizeof lost)) > 0)
        self->n += self->n < sizeof self->rung ? (size_t)n : 0;
}

int wait_readable(int fd, int bell, uint64_t deadline)
{
    struct pollfd on[2] = {{.fd = fd, .events = POLLIN}, {.fd = bell, .events = POLLIN}};

    for (;;) {
        uint64_t now = now_ns();
        uint64_t left = deadline > now ? deadline - now : 0;
        struct timespec span = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)};
        int rc = ppoll(on, 2, &span, NULL);
        if (rc < 0)
            return -errno;
        if (rc > 0)
            return on[0].revents ? 1 : -EINTR;
        if (deadline <= now_ns())
            return 0;
    }
}

/* Bell() */
static PyObject *bell_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct bell *self = PyArg_ParseTuple(args, "") ? make(type) : NULL;

    (void)kwargs;
    if (self)
        self->ends[0] = self->ends[1] = -1;
    return (PyObject *)self;
}

static void close_ends(struct bell *self)
{
    for (int i = 0; i < 2; i++) {
        if (self->ends[i] >= 0)
            close(self->ends[i]);
        self->ends[i] = -1;
    }
    Py_CLEAR(self->set_wakeup_fd);
    Py_CLEAR(self->before);
}

static int take_over(struct bell *self)
{
    PyObject *module = PyImport_ImportModule("signal");
    PyObject *mine = NULL, *quiet = NULL;

    self->set_wakeup_fd = module ? PyObject_GetAttrString(module, "set_wakeup_fd") : NULL;
    if (self->set_wakeup_fd && (mine = Py_BuildValue("(i)", self->ends[1])) &&
        (quiet = Py_BuildValue("{sO}", "warn_on_full_buffer", Py_False)))
        self->before = PyObject_Call(self->set_wakeup_fd, mine, quiet);
    Py_XDECREF(quiet);
    Py_XDECREF(mine);
    Py_XDECREF(module);
    return self->before ? 0 : -1;
}

static PyObject *bell_enter(PyObject *o, PyObject *unused)
{
    struct bell *self = (struct bell *)o;

    (void)unused;
    if (self->before)
        return PyErr_Format(PyExc_RuntimeError, "this bell is entered");
    if (pipe2(self->ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    if (take_over(self) < 0) {
        close_ends(self);
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) /* not the main thread */
            return NULL;
        PyErr_Clear();
    }
    return Py_NewRef(o);
}

/* Gives back what was taken over, with what came meanwhile: an event loop has to see it too. */
static void leave(struct bell *self)
{
    if (self->before) {
        PyObject *none = PyObject_CallFunctionObjArgs(self->set_wakeup_fd, self->before, NULL);
        long before = PyLong_AsLong(self->before);
        Py_XDECREF(none);
        PyErr_Clear();
        bell_hush((PyObject *)self);
        if (before >= 0 && self->n && write((int)before, self->rung, self->n) < 0)
            errno = 0; /* it is full, so that it is awake */
        self->n = 0;
    }
    close_ends(self);
}

static PyObject *bell_exit(PyObject *o, PyObject *unused)
{
    (void)unused;
    leave((struct bell *)o);
    Py_RETURN_NONE;
}

static void bell_dealloc(PyObject *o)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    leave((struct bell *)o);
    PyErr_Restore(type, value, trace);
    unmake(o);
}

/* until(deadline_ns, fd=-1): whether fd is readable by then; a signal's handler may raise */
static PyObject *bell_until(PyObject *o, PyObject *args)
{
    unsigned long long deadline;
    int fd = -1, rc;

    if (!PyArg_ParseTuple(args, "K|i", &deadline, &fd))
        return NULL;
    do {
        Py_BEGIN_ALLOW_THREADS rc = wait_readable(fd, bell_fd(o), deadline);
        Py_END_ALLOW_THREADS bell_hush(o);
        if (rc != 1 && PyErr_CheckSignals() < 0)
            return NULL;
    } while (rc == -EINTR);
    return rc < 0 ? raise_error(state_of(o), rc, NULL) : PyBool_FromLong(rc);
}

struct flag {
    PyObject_HEAD int fd;
};

/* Flag() */
static PyObject *flag_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct flag *self = PyArg_ParseTuple(args, "") ? make(type) : NULL;

    (void)kwargs;
    if (self && (self->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void flag_dealloc(PyObject *o)
{
    if (((struct flag *)o)->fd >= 0)
        close(((struct flag *)o)->fd);
    unmake(o);
}

static PyObject *flag_set(PyObject *o, PyObject *unused)
{
    (void)unused;
    if (eventfd_write(((struct flag *)o)->fd, 1) < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

static PyObject *flag_fileno(PyObject *o, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLong(((struct flag *)o)->fd);
}

static PyMethodDef bell_methods[] = {
    {"__enter__", bell_enter, METH_NOARGS, "From now on signals end its waits."},
    {"__exit__", bell_exit, METH_VARARGS, "Signals go where they went before."},
    {"until", bell_until, METH_VARARGS, "until(deadline_ns, fd=-1): whether fd is readable by then."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot bell_slots[] = {
    {Py_tp_new, bell_new},
    {Py_tp_dealloc, bell_dealloc},
    {Py_tp_methods, bell_methods},
    {0, NULL},
};

static PyType_Spec bell_spec = {
    .name = "reckon._native.Bell",
    .basicsize = sizeof(struct bell),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = bell_slots,
};

static PyMethodDef flag_methods[] = {
    {"set", flag_set, METH_NOARGS, "Makes it readable."},
    {"fileno", flag_fileno, METH_NOARGS, "A descriptor that polls readable once it is set."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot flag_slots[] = {
    {Py_tp_new, flag_new},
    {Py_tp_dealloc, flag_dealloc},
    {Py_tp_methods, flag_methods},
    {0, NULL},
};

static PyType_Spec flag_spec = {
    .name = "reckon._native.Flag",
    .basicsize = sizeof(struct flag),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = flag_slots,
};

int bell_ready(PyObject *module, struct state *state)
{
    PyTypeObject *flag = add_type(module, &flag_spec);

    Py_XDECREF((PyObject *)flag);
    return flag && (state->bell = add_type(module, &bell_spec)) ? 0 : -1;
}
