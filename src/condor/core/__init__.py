"""The pure core: what Condor decides, and nothing it does.

Law: no input or output, no clock, no randomness, no async, no logging, and of third parties
only ``rfc8785``. Everything here is a function of its arguments, so every rule can be tested
as a table.
"""
