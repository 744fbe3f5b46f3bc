"""Finds e-mail addresses, phones, SSNs, cards, IPv4 addresses and hex secrets in a text, in time linear in it.

`redaction.redact` is the whole interface. Importing the package loads nothing; `redaction` loads the patterns.
"""
