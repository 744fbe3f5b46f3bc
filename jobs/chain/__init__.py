"""The eight endpoints that read one thing from a chain."""
