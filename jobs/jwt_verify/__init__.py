"""Checks a token's form, the key, the signature and the claims, each independently."""
