"""Which HTTP statuses are a site's last word."""

FINAL = frozenset({400, 401, 402, 404, 405, 406, 410, 414, 451})
"""Client errors of RFC 9110 (451: RFC 7725) that the same request meets again. Not 403 and 429, by which sites also ask for a
pause, nor 408, 421 and 425, which ask for the same request again."""
REFUSALS = frozenset({403, 429})
"""By which sites refuse an address that they do not like, or have heard too much of."""
