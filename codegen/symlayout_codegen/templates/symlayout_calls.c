/* Calls that a kernel remembers: what each was made for, and the C function that does it.
 *
 * A module for CPython, built for one interpreter and one NumPy where their headers are; see trampoline.py.
 * A call here has made all of its checks in some tens of nanoseconds.  Whatever is not as remembered is left
 * to the caller, who finds out what is wrong: nothing has been touched then. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/ndarraytypes.h>
#include <stdint.h>
#include <string.h>

typedef int32_t (*entry)(const int64_t *numbers, void *const *addresses);

enum {
    MOST = 256,    /* calls that are remembered; then the one that was not used for longest goes */
    SHORT = 8192,  /* bytes that are written in less time than it takes to hand the GIL over and back */
};

typedef struct {
    PyObject *dtype;
    int rank;
    npy_intp *shape, *strides;
    npy_intp low, high;  /* bytes from the address of the array to its first, and past its last */
} operand;

/* One call; of its operands the last is the output. */
typedef struct {
    Py_ssize_t users;  /* the list, and the calls that are under way */
    entry function;
    int64_t *numbers;
    PyObject *kernel;  /* while it lives, the function is loaded */
    PyObject *fills, *shape;
    int strided, fresh;  /* other strides do not do; a new array does as output */
    Py_ssize_t count;
    operand operands[];
} call;

typedef struct {
    PyObject_HEAD
    PyTypeObject *ndarray;
    PyObject *empty;
    Py_ssize_t count;
    call *calls[MOST];  /* the last used first */
} Calls;

static void release(call *c)
{
    if (--c->users == 0) {
        Py_XDECREF(c->kernel);
        Py_XDECREF(c->fills);
        Py_XDECREF(c->shape);
        for (Py_ssize_t k = 0; k < c->count; ++k)
            Py_XDECREF(c->operands[k].dtype);
        PyMem_Free(c);
    }
}

/* --- find ---------------------------------------------------------------------------------- */

static int fits(const operand *o, PyArrayObject *a, int strided)
{
    const size_t bytes = (size_t)o->rank * sizeof(npy_intp);
    return PyArray_NDIM(a) == o->rank
        && (bytes == 0 || memcmp(PyArray_DIMS(a), o->shape, bytes) == 0)
        && (strided ? bytes == 0 || memcmp(PyArray_STRIDES(a), o->strides, bytes) == 0
                    : (PyArray_FLAGS(a) & NPY_ARRAY_C_CONTIGUOUS) != 0);
}

/* Whether the element type of the array is dtype; -1 with an exception.  Most types are one object each. */
static int has_type(PyArrayObject *a, PyObject *dtype)
{
    PyObject *own = (PyObject *)PyArray_DESCR(a);
    if (own == dtype)
        return 1;
    Py_INCREF(own);
    const int same = PyObject_RichCompareBool(own, dtype, Py_EQ);
    Py_DECREF(own);
    return same;
}

/* Whether c was made for such arrays; -1 with an exception. */
static int suits(const call *c, PyObject *inputs, PyObject *out)
{
    const Py_ssize_t count = c->count - 1;
    if (PyTuple_GET_SIZE(inputs) != count)
        return 0;
    for (Py_ssize_t k = 0; k < count; ++k)
        if (!fits(&c->operands[k], (PyArrayObject *)PyTuple_GET_ITEM(inputs, k), c->strided))
            return 0;
    if (out == Py_None ? !c->fresh : !fits(&c->operands[count], (PyArrayObject *)out, c->strided))
        return 0;
    for (Py_ssize_t k = 0; k < count; ++k) {
        const int same = has_type((PyArrayObject *)PyTuple_GET_ITEM(inputs, k), c->operands[k].dtype);
        if (same != 1)
            return same;
    }
    return out == Py_None ? 1 : has_type((PyArrayObject *)out, c->operands[count].dtype);
}

/* The call for such arrays, which the caller releases; null, perhaps with an exception, if there is none. */
static call *find(Calls *self, PyObject *inputs, PyObject *out)
{
    for (Py_ssize_t at = 0; at < self->count; ++at) {
        call *c = self->calls[at];
        ++c->users;
        const int found = suits(c, inputs, out);
        if (found == 1) {
            if (at > 0 && at < self->count && self->calls[at] == c) {
                memmove(&self->calls[1], &self->calls[0], (size_t)at * sizeof(call *));
                self->calls[0] = c;
            }
            return c;
        }
        release(c);
        if (found < 0)
            return NULL;
    }
    return NULL;
}

/* --- call ---------------------------------------------------------------------------------- */

/* Whether an input lies where the output is to be written, by their first and last bytes. */
static int apart(const call *c, PyObject *inputs, PyArrayObject *out)
{
    const Py_ssize_t count = c->count - 1;
    const char *const low = PyArray_BYTES(out) + c->operands[count].low;
    const char *const high = PyArray_BYTES(out) + c->operands[count].high;
    for (Py_ssize_t k = 0; k < count; ++k) {
        const char *const at = PyArray_BYTES((PyArrayObject *)PyTuple_GET_ITEM(inputs, k));
        if (at + c->operands[k].low < high && low < at + c->operands[k].high)
            return 0;
    }
    return 1;
}

static int32_t run(const call *c, PyObject *inputs, PyArrayObject *out)
{
    const Py_ssize_t count = c->count - 1;
    void *addresses[count + 2];
    for (Py_ssize_t k = 0; k < count; ++k)
        addresses[k] = PyArray_DATA((PyArrayObject *)PyTuple_GET_ITEM(inputs, k));
    addresses[count] = PyArray_DATA(out);
    addresses[count + 1] = c->fills ? PyBytes_AS_STRING(c->fills) : NULL;
    if (c->operands[count].high - c->operands[count].low <= SHORT)
        return c->function(c->numbers, addresses);
    int32_t status;
    Py_BEGIN_ALLOW_THREADS
    status = c->function(c->numbers, addresses);
    Py_END_ALLOW_THREADS
    return status;
}

static PyObject *calls_call(Calls *self, PyObject *const *arguments, Py_ssize_t given)
{
    if (given != 2 || !PyTuple_CheckExact(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "call takes a tuple of inputs, and out");
        return NULL;
    }
    PyObject *inputs = arguments[0], *out = arguments[1];
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(inputs); ++k)
        if (Py_TYPE(PyTuple_GET_ITEM(inputs, k)) != self->ndarray)
            Py_RETURN_NONE;
    if (out != Py_None
        && (Py_TYPE(out) != self->ndarray || !(PyArray_FLAGS((PyArrayObject *)out) & NPY_ARRAY_WRITEABLE)))
        Py_RETURN_NONE;
    call *c = find(self, inputs, out);
    if (c == NULL) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    if (out == Py_None)
        out = PyObject_Vectorcall(self->empty, (PyObject *[]){c->shape, c->operands[c->count - 1].dtype}, 2, NULL);
    else
        Py_INCREF(out);
    if (out != NULL && (!apart(c, inputs, (PyArrayObject *)out) || run(c, inputs, (PyArrayObject *)out) != 0)) {
        Py_DECREF(out);
        out = Py_NewRef(Py_None);
    }
    release(c);
    return out;
}

/* --- remember ------------------------------------------------------------------------------ */

static npy_intp *copied(npy_intp **room, const npy_intp *from, int rank)
{
    npy_intp *const to = *room;
    for (int k = 0; k < rank; ++k)
        to[k] = from[k];
    *room += rank;
    return to;
}

static operand described(PyArrayObject *a, npy_intp size, npy_intp **room)
{
    operand o = {.dtype = Py_NewRef((PyObject *)PyArray_DESCR(a)), .rank = PyArray_NDIM(a), .low = 0, .high = size};
    o.shape = copied(room, PyArray_DIMS(a), o.rank);
    o.strides = copied(room, PyArray_STRIDES(a), o.rank);
    for (int k = 0; k < o.rank; ++k) {
        const npy_intp reach = (o.shape[k] - 1) * o.strides[k];
        *(reach < 0 ? &o.low : &o.high) += reach;
    }
    for (int k = 0; k < o.rank; ++k)
        if (o.shape[k] == 0)
            o.low = o.high = 0;
    return o;
}

static PyObject *calls_add(Calls *self, PyObject *arguments)
{
    unsigned long long function;
    Py_buffer numbers;
    PyObject *fills, *arrays, *shape, *sizes, *kernel;
    int strided;
    if (!PyArg_ParseTuple(arguments, "Ky*OpO!O!O!O", &function, &numbers, &fills, &strided, &PyTuple_Type, &arrays,
                          &PyTuple_Type, &shape, &PyTuple_Type, &sizes, &kernel))
        return NULL;
    const Py_ssize_t count = PyTuple_GET_SIZE(arrays);
    if (PyTuple_GET_SIZE(sizes) != count) {
        PyBuffer_Release(&numbers);
        PyErr_SetString(PyExc_TypeError, "each array has the size of its elements");
        return NULL;
    }
    size_t numbers_of_all = 0;
    for (Py_ssize_t k = 0; k < count; ++k) {
        if (!PyObject_TypeCheck(PyTuple_GET_ITEM(arrays, k), self->ndarray)) {
            PyBuffer_Release(&numbers);
            return PyErr_Format(PyExc_TypeError, "array %zd is none", k);
        }
        numbers_of_all += 2 * (size_t)PyArray_NDIM((PyArrayObject *)PyTuple_GET_ITEM(arrays, k));
    }
    const size_t head = sizeof(call) + (size_t)count * sizeof(operand);
    call *c = count > 0 ? PyMem_Calloc(1, head + numbers_of_all * sizeof(npy_intp) + (size_t)numbers.len) : NULL;
    if (c == NULL) {
        PyBuffer_Release(&numbers);
        return PyErr_NoMemory();
    }
    npy_intp *room = (npy_intp *)((char *)c + head);
    for (Py_ssize_t k = 0; k < count; ++k) {
        const Py_ssize_t size = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, k));
        c->operands[k] = described((PyArrayObject *)PyTuple_GET_ITEM(arrays, k), (npy_intp)size, &room);
    }
    c->numbers = (int64_t *)room;
    memcpy(c->numbers, numbers.buf, (size_t)numbers.len);
    PyBuffer_Release(&numbers);
    c->users = 1;
    c->function = (entry)(uintptr_t)function;
    c->kernel = Py_NewRef(kernel);
    c->fills = fills == Py_None ? NULL : Py_NewRef(fills);
    c->shape = Py_NewRef(shape);
    c->strided = strided;
    c->fresh = (PyArray_FLAGS((PyArrayObject *)PyTuple_GET_ITEM(arrays, count - 1)) & NPY_ARRAY_C_CONTIGUOUS) != 0;
    c->count = count;
    call *const gone = self->count == MOST ? self->calls[--self->count] : NULL;
    memmove(&self->calls[1], &self->calls[0], (size_t)self->count * sizeof(call *));
    self->calls[0] = c;
    ++self->count;
    if (gone != NULL)
        release(gone);  /* last: another thread may add a call meanwhile */
    Py_RETURN_NONE;
}

/* --- the module ---------------------------------------------------------------------------- */

static PyObject *calls_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(named))
{
    PyObject *ndarray, *empty;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyType_Type, &ndarray, &empty))
        return NULL;
    Calls *self = (Calls *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->ndarray = (PyTypeObject *)Py_NewRef(ndarray);
        self->empty = Py_NewRef(empty);
    }
    return (PyObject *)self;
}

static void calls_dealloc(Calls *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    while (self->count > 0)
        release(self->calls[--self->count]);
    Py_XDECREF(self->ndarray);
    Py_XDECREF(self->empty);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))calls_call, METH_FASTCALL,
     "call(inputs, out): out, or a new array, written; None, with nothing done, where the arrays are new here."},
    {"add", (PyCFunction)calls_add, METH_VARARGS,
     "add(function, numbers, fills, strided, arrays, shape, itemsizes, kernel): remember a call."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, calls_new}, {Py_tp_dealloc, calls_dealloc}, {Py_tp_methods, methods}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "symlayout_calls.Calls", .basicsize = sizeof(Calls), .flags = Py_TPFLAGS_DEFAULT, .slots = slots,
};

static int fill_module(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    const int status = type == NULL ? -1 : PyModule_AddObjectRef(module, "Calls", type);
    Py_XDECREF(type);
    return status;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, fill_module}, {0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "symlayout_calls", .m_size = 0, .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit_symlayout_calls(void)
{
    return PyModuleDef_Init(&module);
}
