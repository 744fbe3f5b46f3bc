"""Reads the answers of registries on port 43, none of which has a specified format. `record.read` is the interface.

A text becomes tokens (lines), tokens become entries with their section (entries), and entries become fields by the names that
registries use (keys). The verdict on the domain depends on the fields first, and on sentences last. The work is linear in the
text, which has at most 64 KB. The formats are known from the registries' public answers.

rdap.py reads RDAP's JSON into the same record.
"""
