"""What registries answer on port 43, read: none of their formats is specified. `record.read` is the interface.

A text becomes tokens (lines), tokens become entries with the section they stand in (entries), entries become fields by the
names that registries give them (keys), and the verdict on the domain is judged on the fields first and on sentences last.
Everything is linear in a text that is never longer than 64 KB. The formats are known from the registries' public answers.
"""
