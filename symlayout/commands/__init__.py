"""The commands of the command line.  Each is a module with ``add_arguments``, and ``run``, which returns a `Report`."""
