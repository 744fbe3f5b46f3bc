"""Fake data: one small function per faker-js method, grouped in modules as faker-js groups them.

    allowlist.py   METHODS: the only way from a name to a function
    source.py      what a method draws from: a random stream, a reference date, Python Faker's providers
    records.py     template to records: one random stream per column
    closest.py     what the caller may have meant
    checks.py      check digits
    text.py        how a value that is no text is written
    document.py    writes docs/faker.md

Nothing here imports Python Faker at module level (0.33 s), so that the names can be checked without it.
Word lists are our own and short, or Python Faker's.
"""
