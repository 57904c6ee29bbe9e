"""Freeze what the provers answer: ``python -m tests.freeze --out base.jsonl``, later ``--compare base.jsonl``.

The questions are those of the corpora of the tests.  Each is asked in a process of its own, so that no answer depends
on what was asked before.  A line of JSON for each has its key, its name, the verdict, the laws, what `symlayout.check`
says of the certificate, the goals and the seconds of the processor.  All but the seconds are the same in each run.
"""
