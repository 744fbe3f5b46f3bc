"""The engine of render-pro and web-diff: what a rendered page says, where it says it, and what has changed.

    browser      the port: a page after its scripts have run
    visit        one call: render, read, compare, remember
    read_page    the calculation that reads a page: tree, metadata, article or body, Markdown, evidence, hashes
    read_text    the calculation for pages that take `read_page` too much: all their text, read without a tree
    compare      the calculation that compares two texts: diff, hunks, words
    snapshots    what one call leaves for the next

Everything that a page decides the size of runs in a child process (jobs/calculations.py).
"""
