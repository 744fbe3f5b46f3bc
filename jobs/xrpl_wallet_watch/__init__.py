"""A paid heartbeat for a wallet on the XRP Ledger: what it has, and what happened to it since the payer's last call.

`ledger` is the port, `addresses` reads what callers write, `baseline` is what one call leaves for the next, `watch`
compares, and `alerts` and `response` say it.
"""
