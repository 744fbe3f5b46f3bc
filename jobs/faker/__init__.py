"""Fake data: one small function per faker-js method, in the same modules as in faker-js.

    allowlist.py   METHODS: the names that a request may use, with their functions
    source.py      what a method uses: a random stream, a reference date, Python Faker's providers
    records.py     makes records from a template, with one random stream per column
    closest.py     suggests names for an unknown one
    checks.py      check digits
    text.py        writes values that are not texts
    document.py    writes docs/faker.md

No module imports Python Faker at module level (0.33 s), so the API can check names without it. Word lists are our own and
short, or Python Faker's.
"""
