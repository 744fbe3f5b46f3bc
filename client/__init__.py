"""The buyer's side: pays a challenge and brings back the answer. `coinslot` is its command (client/main.py).

    from decimal import Decimal
    from client.buyer import Buyer
    from client.wallet import Wallet

    with Buyer("https://shop.example", Wallet.evm(key), max_price=Decimal("0.01")) as buyer:
        answer = buyer.call("echo", {"message": "hello"})

Nothing is imported here: the command must start at once, and most of what it may need is never used by one command.
"""
