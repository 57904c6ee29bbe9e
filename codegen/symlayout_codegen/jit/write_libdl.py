"""Write `symlayout_codegen.jit.libdl`, the module by which cffi calls the system's dynamic loader.

cffi parses C declarations here, once, and never when a kernel is loaded (cffi's documentation: "out-of-line, ABI
level").  After an edit of `DECLARATIONS`:

    python -m symlayout_codegen.jit.write_libdl codegen/symlayout_codegen/jit/libdl.py
"""

from __future__ import annotations

import sys

from cffi import FFI

MODULE = "symlayout_codegen.jit.libdl"
DECLARATIONS = """
    void *dlopen(const char *, int);
    void *dlsym(void *, const char *);
    int dlclose(void *);
    char *dlerror(void);
"""


def write(path: str) -> None:
    """Write the module to the file *path*."""
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    ffi.set_source(MODULE, None)
    ffi.emit_python_code(path)


if __name__ == "__main__":
    write(sys.argv[1])
