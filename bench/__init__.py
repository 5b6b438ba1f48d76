"""Condor measured against peers, in one run: `make bench`, or `python -m bench --help` from the root.

Every contender does the same work, in a process of its own for each sample, on a fresh database file of
the same disk with SQLite `synchronous=FULL`: start → read → park → approve → write → done.
"""
