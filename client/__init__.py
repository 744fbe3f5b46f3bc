"""The buyer: pays a challenge and returns the answer. `coinslot` is its command (client/main.py).

    from decimal import Decimal
    from client.buyer import Buyer
    from client.wallet import Wallet

    with Buyer("https://api.example", Wallet.evm(key), max_price=Decimal("0.01")) as buyer:
        answer = buyer.call("echo", {"message": "hello"})

This module imports nothing: the command must start fast, and one run uses few of the modules.
"""
