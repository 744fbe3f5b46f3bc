"""A local ledger beside the EVM chains, as ``compose.sandbox.<network>.start_<network>(var)`` returns it."""

from __future__ import annotations

from dataclasses import dataclass, field

from compose.sandbox.child import Child


@dataclass(frozen=True, slots=True)
class LocalLedger:
    """A running ledger that is ready for payments. The keys do not appear in repr().

    Attributes:
        network: CAIP-2, that of the main network.
        payer_secret, payer: the buyer, who has 1,000 of each token. The secret has the form that the network's wallets export.
        pay_to: where payments go. The account can take each token.
        settler_key, settler: the facilitator's account, which pays the network's fees; empty where payers pay them.
    """

    child: Child
    rpc_url: str
    network: str
    payer_secret: str = field(repr=False)
    payer: str
    pay_to: str
    settler_key: str = field(default="", repr=False)
    settler: str = ""

    def stop(self) -> None:
        """End the node and wait for it. The ledger is gone: the next start is a fresh one."""
        self.child.stop()
