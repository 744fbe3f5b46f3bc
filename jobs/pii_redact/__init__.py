"""Finds personal data and secrets in a text, in time linear in it.

`redaction.redact` is the whole interface. Importing the package loads nothing; `redaction` loads the patterns.
"""
