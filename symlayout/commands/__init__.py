"""The commands of the command line, a module each: ``add_arguments``, and ``run``, which gives a `Report`."""
