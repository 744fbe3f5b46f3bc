"""The state of a wallet on the XRP Ledger, and its activity since the payer's last call.

`ledger` is the port, `addresses` reads what callers write, `baseline` is what one call leaves for the next, `watch`
compares, and `alerts` and `response` say it.
"""
