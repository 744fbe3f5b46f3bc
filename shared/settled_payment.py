"""The payment of one call, as a worker and a handler see it."""

import msgspec


class SettledPayment(msgspec.Struct, frozen=True, array_like=True):
    """What was paid for a call, and by whom.

    Args:
        network: CAIP-2, e.g. ``eip155:8453``.
        payer: the wallet that paid, in the canonical form of its rail.
        asset: the token, as the offer names it.
        amount: atomic units of the asset, a decimal string.
        transaction: what the receipt names, in the network's own form.
        signer: whose key signs for a channel, where it is not the payer's. Anybody can make a channel in a payer's name, so
            what endpoints remember for the payer is not for this key.
    """

    network: str = ""
    payer: str = ""
    asset: str = ""
    amount: str = ""
    transaction: str = ""
    signer: str = ""


NO_PAYMENT = SettledPayment()
"""The payment of work that belongs to no paid call, such as a calculation."""
