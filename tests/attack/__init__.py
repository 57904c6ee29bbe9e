"""Attacks on verdicts about models: each part makes claims without end, and judges the answers by other programs.

    python -m tests.attack --seconds 600 --seed 1 --jobs 2 --out wrong
    python -m tests.attack.pairs --seconds 60

A part is a module of this package with a function ``attack(seed, tally)``: it makes the case of this number, and notes
in the tally what it shows.  The same number makes the same case: ``--cases 1 --seed NUMBER`` repeats it.  The judges
are onnxruntime without its optimisation and the reference evaluator of the package ``onnx``, never our own code.
"""
