"""The product, selling what tests/chaos/probe.py declares, or what a browser is needed for: `python -m tests.chaos.shop
api|worker`. Only its drivers live shorter and, on a busy machine, it waits longer for its browser."""

import os
import sys
from types import ModuleType

import dramatiq.cli
from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes
from granian.server import Server

import api.app
import api.claims
import api.payment.facilitator
from api.payment import listing_ledger
from api.rsgi import Rsgi
from jobs.render_pro import endpoint as render_pro
from jobs.web_diff import endpoint as web_diff
from shared.process.tuning import tune_gc
from tests.chaos import probe
from tests.time_limits import patience
from tests.workers.browser.limits import wait_longer
from workers.main import create_broker as create_real_broker
from workers.queue.broker import StreamBroker

MODULE = "tests.chaos.shop"
PATIENCE_S = 1.0
LIST_EVERY_MS = 200
SHOP = "CHAOS_SHOP"
"""Of the environment: a key of CATALOGUES."""
CATALOGUES = {"probe": probe.CATALOGUE, "patient": probe.PATIENT, "render": (render_pro.ENDPOINT, web_diff.ENDPOINT)}
CATALOGUE = CATALOGUES[os.environ.get(SHOP, "probe")]
_OF_DRIVERS: dict[ModuleType, tuple[str, ...]] = {
    api.app: ("EVIDENCE_TIMEOUT_S",),
    api.claims: ("EVIDENCE_TIMEOUT_S", "LEASE_MARGIN_S"),
    api.payment.facilitator: ("EVIDENCE_TIMEOUT_S",),
}
"""Modules that read these limits, each by a name of its own."""


def hurry(patience_s: float = PATIENCE_S) -> None:
    """A lease outlives what its driver waits for; but a run of a minute is to see many drivers die."""
    for module, names in _OF_DRIVERS.items():
        for name in names:
            assert name in vars(module), f"{module.__name__} has no {name}: the product's limit would be waited for"
            setattr(module, name, patience(patience_s))


def list_often() -> None:
    """Where there is a listing facilitator, it gets a payment every moment."""
    listing_ledger.HOLD_MS = listing_ledger.LISTED_MS = listing_ledger.REJECTED_MS = LIST_EVERY_MS
    listing_ledger.ASK_AGAIN_S = LIST_EVERY_MS / 1000


def application() -> Rsgi:
    """What granian's worker loads."""
    hurry()
    list_often()
    app = api.app.create_app(catalogue=CATALOGUE)
    tune_gc()
    return Rsgi(app, app.lifespan)


def create_broker() -> StreamBroker:
    """What Dramatiq's worker loads."""
    wait_longer()
    return create_real_broker(CATALOGUE)


def serve() -> None:
    """As api/__main__.py serves."""
    Server(
        f"{MODULE}:application",
        factory=True,
        address=os.environ.get("COINSLOT_HOST", "127.0.0.1"),
        port=int(os.environ["COINSLOT_PORT"]),
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        loop=Loops.uvloop,
        runtime_mode=RuntimeModes.mt,
        websockets=False,
    ).serve()


def work() -> None:
    """As the Procfile's workers, with all pools in one process."""
    options = ("--queues", *sorted({endpoint.pool for endpoint in CATALOGUE}), "--processes", "1", "--threads", "8")
    sys.exit(dramatiq.cli.main(dramatiq.cli.make_argument_parser().parse_args([f"{MODULE}:create_broker", *options])))


def main() -> None:
    """Read the command line."""
    {"api": serve, "worker": work}[sys.argv[1]]()


if __name__ == "__main__":
    main()
