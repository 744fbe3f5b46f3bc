"""Checks the syntax of ECMAScript regular expressions, and runs them in V8."""
