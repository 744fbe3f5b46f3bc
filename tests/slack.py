"""How much later than it should a thing may seem to end, on a machine that has something else to do."""

SLACK_S = 3.0
"""Less than the 5 s that dnspython, a TLS handshake or a test's server would wait by themselves, so that a deadline which
nobody keeps is seen. How fast things are is for the bench."""
