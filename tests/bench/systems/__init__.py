"""What is measured. A system is one module here with one function per role, started by tests/bench/roles.py.

To add one: a module, and a line in the tables below. A line whose module or packages are missing is reported as absent.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class System:
    """One system.

    Attributes:
        module: its name in this folder.
        label: what it is called in the tables.
        roles: its server processes, in the order of starting.
        packages: modules that the rivals' environment must have; empty for ours, which run in the project's own.
    """

    module: str
    label: str
    roles: tuple[str, ...] = ("worker",)
    packages: tuple[str, ...] = ()

    @property
    def is_ours(self) -> bool:
        """Whether it runs on the project's own environment."""
        return not self.packages

    @property
    def path(self) -> Path:
        """Its file."""
        return Path(__file__).with_name(f"{self.module}.py")


_FASTAPI = ("fastapi", "uvicorn", "uvloop", "httptools")

STOCK = System("dramatiq_stock", "Dramatiq, stock broker and results", packages=("dramatiq", "redis"))
SAQ = System("saq_subscribe", "SAQ, subscribing before enqueueing", packages=("saq", "redis"))
CELERY = System("celery_threads", "celery, threads", packages=("celery", "redis"))
THREADS = System("ours_threads", "ours, worker threads")
INLINE = System("ours_inline", "ours, in the consumer thread")
HOPS = (STOCK, SAQ, CELERY, THREADS, INLINE)
"""Section 1: a caller awaits the result of a job."""

FASTAPI = System("fastapi_inline", "FastAPI + uvicorn, answering inline", ("api",), _FASTAPI)
FASTAPI_STOCK = System("fastapi_dramatiq", "FastAPI + Dramatiq, stock", ("worker", "api"), (*_FASTAPI, "dramatiq"))
FASTAPI_SAQ = System("fastapi_saq", "FastAPI + SAQ, subscribing", ("worker", "api"), (*_FASTAPI, "saq"))
UNPAID = System("ours_unpaid", "ours, through the queue", ("worker", "api"))
HTTP = (FASTAPI, FASTAPI_STOCK, FASTAPI_SAQ, UNPAID)
"""Section 2: HTTP without a payment. UNPAID serves the sections on isolation, growth and recovery too."""

SDK = System("fastapi_x402", "FastAPI + official x402 middleware", ("api",), (*_FASTAPI, "x402", "httpx"))
PAID = System("ours_paid", "ours, paid", ("worker", "api"))
SHOPS = (SDK, PAID)
"""Sections 3 and 4: HTTP with a payment."""

OUR_FACILITATOR = System("ours_facilitator", "ours, in groups", ("api",))
ONE_BY_ONE = System("ours_facilitator", "ours, one by one", ("api",))
CLAIMER = System("ours_claimer", "our claimer", ("claimer",))
SDK_FACILITATOR = System("sdk_facilitator", "official SDK's facilitator", ("api",), (*_FASTAPI, "x402", "web3"))
SDK_CHANNELS = System(
    "fastapi_channels", "official SDK's server, vouchers of channels", ("api",), (*_FASTAPI, "x402", "httpx")
)
SETTLERS = (SDK_FACILITATOR, ONE_BY_ONE, OUR_FACILITATOR)
"""Section 8: our shop with real settlements, by each of these on a node of its own."""
