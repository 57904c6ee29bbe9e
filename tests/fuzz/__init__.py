"""Random chains, each run by the interpreter, by the kernel and by brute force: ``python -m tests.fuzz 100000``.

A *case* is a chain of up to 8 operations of the core and of the frameworks, the sizes of its dims, an element type,
and where its inputs and its output lie in memory.  Its result is computed three times: by `symlayout.interpret`, by
a kernel, and by NumPy's own operations on the numbers of the elements (`tests.support.brute` and
`tests.support.brute_frameworks`), which import nothing of symlayout.  The bytes are compared, and so
are those around the output.

A kernel is compiled once for its chain and called for many sizes, types and layouts.  All arrays lie between pages
without access, so that a kernel that leaves them is killed, and with it the process that the parent started for some
chains; the parent then says which chain it was.
"""
