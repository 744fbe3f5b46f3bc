"""The networks that a call can be paid on: one row for each. Whatever differs from network to network asks this table.

What only one side needs is in a module of that side, found by the row's `package`: `docs/rails.md` lists them, and
`tests/contract/test_networks.py` holds every row against the list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from shared.settings.rails import (
    EthereumRailSettings,
    EvmRailSettings,
    RailSettings,
    SolanaRailSettings,
    StellarRailSettings,
    XrplRailSettings,
)
from shared.settings.secret_files import read_key, read_secret
from shared.x402.networks import (
    EVM_USDC,
    SOLANA_DEVNET,
    SOLANA_MAINNET,
    SOLANA_USDC,
    STELLAR_USDC,
    XRPL_RLUSD,
    XRPL_USDC,
    Rail,
    Token,
)


@dataclass(frozen=True, slots=True)
class Network:
    """What the sides of the project have to know of a network.

    Attributes:
        name: of its settings (``solana`` of COINSLOT_SOLANA_PAY_TO) and of its ledger in the sandbox file.
        title: its name in prose.
        namespace: CAIP-2.
        names: its public networks by CAIP-2, as pages show them. The first one is what a buyer pays on by default.
        settings: the class of its settings.
        tokens: the tokens of each of its rails, by CAIP-2 network.
        package: what its modules are called: ``facilitator/rails/<package>/``, ``coinslot/<package>_signer.py``,
            ``ops/chains/<package>.py``.
        read_settler_key: reads the file of its settler's key.
        signs_offline: whether a buyer can sign without a node.
    """

    name: str
    title: str
    namespace: str
    names: Mapping[str, str]
    settings: type[RailSettings]
    tokens: Mapping[Rail, Mapping[str, Token]]
    package: str
    read_settler_key: Callable[[Path], object] = read_key
    signs_offline: bool = False

    @property
    def default(self) -> str:
        """The CAIP-2 network that a buyer pays on by default."""
        return next(iter(self.names))

    def settler_key_file(self, own: RailSettings) -> Path | None:
        """The file of the settler's key; None where our facilitator does not settle, or payers pay the fees themselves.

        Args:
            own: the network's settings.
        """
        return getattr(own, "settler_key_file", None) if own.rpc_url else None


_NETWORKS = (
    Network(
        name="evm",
        title="Base",
        namespace="eip155",
        names={"eip155:8453": "Base", "eip155:84532": "Base Sepolia"},
        settings=EvmRailSettings,
        tokens={Rail.BASE: EVM_USDC},
        package="evm",
        signs_offline=True,
    ),
    Network(
        name="solana",
        title="Solana",
        namespace="solana",
        names={SOLANA_MAINNET: "Solana", SOLANA_DEVNET: "Solana Devnet"},
        settings=SolanaRailSettings,
        tokens={Rail.SOLANA: SOLANA_USDC},
        package="solana",
    ),
    Network(
        name="stellar",
        title="Stellar",
        namespace="stellar",
        names={"stellar:pubnet": "Stellar", "stellar:testnet": "Stellar Testnet"},
        settings=StellarRailSettings,
        tokens={Rail.STELLAR: STELLAR_USDC},
        package="stellar",
        read_settler_key=read_secret,
    ),
    Network(
        name="xrpl",
        title="the XRP Ledger",
        namespace="xrpl",
        names={"xrpl:0": "XRP Ledger", "xrpl:1": "XRP Ledger Testnet"},
        settings=XrplRailSettings,
        tokens={Rail.XRPL_USDC: XRPL_USDC, Rail.XRPL_RLUSD: XRPL_RLUSD},
        package="xrpl",
    ),
    Network(
        name="ethereum",
        title="Ethereum",
        namespace="eip155",
        names={"eip155:1": "Ethereum"},
        settings=EthereumRailSettings,
        tokens={Rail.ETHEREUM: EVM_USDC},
        package="evm",
        signs_offline=True,
    ),
)

NETWORKS: dict[str, Network] = {network.name: network for network in _NETWORKS}
"""By name, in the order of our challenges."""


def network_of(rail: Rail) -> Network:
    """The network that a rail is on: every rail is in a row (tests/contract/test_networks.py)."""
    return next(network for network in NETWORKS.values() if rail in network.tokens)


def name_of(network: str) -> str:
    """The name of a CAIP-2 network for people; the identifier itself where there is none."""
    return next((row.names[network] for row in NETWORKS.values() if network in row.names), network)
