"""What a child process gives up before it reads a caller's data, in layers: if one has a hole, the next one holds.

The fork server gives up what all its children do without (server.py), and each child the rest (child.py). What the kernel does
not offer is missing in `Layers`, which the worker reports.

docs/security.md says which layer stops what.
"""
