"""The command line: ``condor``. Drawing and asking only; every decision is made below.

Law 1: results go to stdout; notes, progress and refusals go to stderr.
Law 2: a foreign string reaches a terminal through ``visible`` alone, never as markup.
Law 3: importing a command is cheap; what it needs is loaded when it runs.
"""
