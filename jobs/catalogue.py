"""Every endpoint that is sold: ours, and those of installed packages after them. Every listing has this order."""

import functools
import sys
from datetime import datetime

from jobs import echo
from jobs.approval_safety import endpoint as approval_safety
from jobs.chain import endpoints as chain
from jobs.dns import endpoint as dns
from jobs.faker import endpoint as faker
from jobs.json_repair import endpoint as json_repair
from jobs.jwt_verify import endpoint as jwt_verify
from jobs.llm_tool_validate import endpoint as llm_tool_validate
from jobs.packages import RefusedPackage, installed_packages, refuse_collisions
from jobs.pii_redact import endpoint as pii_redact
from jobs.prompt_injection_scan import endpoint as prompt_injection_scan
from jobs.regex_test import endpoint as regex_test
from jobs.render_pro import endpoint as render_pro
from jobs.rss import endpoint as rss
from jobs.ssl_info import endpoint as ssl_info
from jobs.tx_explain import endpoint as tx_explain
from jobs.wallet_doctor import endpoint as wallet_doctor
from jobs.web_diff import endpoint as web_diff
from jobs.webhook_sig_verify import endpoint as webhook_sig_verify
from jobs.whois import endpoint as whois
from jobs.x402_discover import endpoint as x402_discover
from jobs.xrpl_wallet_watch import endpoint as xrpl_wallet_watch
from jobs.youtube import endpoint as youtube
from shared.endpoint import PACKAGE_REFUSED, Endpoint

UPDATED = "2026-11-24T00:00:00Z"
"""The day on which anything that discovery shows last changed, in UTC. Indexers read it to know when to look again."""

DIGEST = "b11d5db51375882d"
"""The digest of what discovery showed on that day. tests/contract/test_updated.py computes it, and says what to write here."""

CATALOGUE: tuple[Endpoint, ...] = (
    echo.ENDPOINT,
    json_repair.ENDPOINT,
    faker.ENDPOINT,
    llm_tool_validate.ENDPOINT,
    render_pro.ENDPOINT,
    jwt_verify.ENDPOINT,
    webhook_sig_verify.ENDPOINT,
    regex_test.ENDPOINT,
    pii_redact.ENDPOINT,
    dns.ENDPOINT,
    whois.ENDPOINT,
    rss.ENDPOINT,
    youtube.ENDPOINT,
    web_diff.ENDPOINT,
    x402_discover.ENDPOINT,
    prompt_injection_scan.ENDPOINT,
    ssl_info.ENDPOINT,
    tx_explain.ENDPOINT,
    wallet_doctor.ENDPOINT,
    approval_safety.ENDPOINT,
    xrpl_wallet_watch.ENDPOINT,
    *chain.ENDPOINTS,
)

BY_NAME: dict[str, Endpoint] = {endpoint.name: endpoint for endpoint in CATALOGUE}


@functools.cache
def installed() -> tuple[Endpoint, ...]:
    """What a process sells and runs, if nothing else is given: ours, and what the installed packages add.

    Raises:
        RefusedPackage: an installed package cannot be sold (jobs/packages.py).
    """
    packages = installed_packages()
    refuse_collisions(CATALOGUE, packages)
    return (*CATALOGUE, *(endpoint for package in packages for endpoint in package.endpoints))


@functools.cache
def installed_by_name() -> dict[str, Endpoint]:
    """The same by their names."""
    return {endpoint.name: endpoint for endpoint in installed()}


def updated() -> datetime:
    """When what discovery shows last changed, in UTC: with UPDATED, or with the package that was installed last."""
    return max((datetime.fromisoformat(UPDATED), *(package.installed_at for package in installed_packages())))


def main() -> int:
    """`python -m jobs.catalogue` prints what installed packages add. Exit code 0, or PACKAGE_REFUSED with a sentence."""
    try:
        installed()
    except RefusedPackage as error:
        print(error, file=sys.stderr)
        return PACKAGE_REFUSED
    for package in installed_packages():
        for endpoint in package.endpoints:
            print(f"{endpoint.name} ${endpoint.price.text()}, pool {endpoint.pool}, of {package.origin}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
