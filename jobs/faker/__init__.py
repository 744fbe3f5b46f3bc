"""Fake data: one small function per faker-js method, in the same modules as in faker-js.

    allowlist.py   METHODS: the names that a request may use, from methods.txt, with their functions
    source.py      what a method uses: a random stream, a reference date, Python Faker's providers
    lists.txt      the names that methods draw from, where no library has them; lists.py reads them
    locales.py     the ten locales, how they are spelled, and the CLDR's names for them
    records.py     makes records from a template, with one random stream per column
    closest.py     suggests names for an unknown one
    checks.py      check digits
    text.py        writes values that are not texts
    document.py    writes docs/faker.md

No module imports Python Faker or Babel at module level (0.4 s), so the API can check names without them. Python Faker and its
locales answer what they have data for, and Babel has the CLDR's names.
"""
