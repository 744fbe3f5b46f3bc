"""Everything that is sold, written out by hand. Order is the order of every listing."""

from __future__ import annotations

from jobs import (
    dns,
    echo,
    faker,
    json_repair,
    jwt_verify,
    llm_tool_validate,
    pii_redact,
    prompt_injection_scan,
    regex_test,
    rss,
    ssl_info,
    webhook_sig_verify,
    whois,
    x402_discover,
    youtube,
)
from shared.endpoint import Endpoint

UPDATED = "2026-11-21T00:00:00Z"
"""When a price, a field or an endpoint last changed. Discovery documents show it, so indexers know when to look again."""

CATALOGUE: tuple[Endpoint, ...] = (
    echo.ENDPOINT,
    json_repair.ENDPOINT,
    faker.ENDPOINT,
    llm_tool_validate.ENDPOINT,
    jwt_verify.ENDPOINT,
    webhook_sig_verify.ENDPOINT,
    regex_test.ENDPOINT,
    pii_redact.ENDPOINT,
    dns.ENDPOINT,
    whois.ENDPOINT,
    rss.ENDPOINT,
    youtube.ENDPOINT,
    x402_discover.ENDPOINT,
    prompt_injection_scan.ENDPOINT,
    ssl_info.ENDPOINT,
)

BY_NAME: dict[str, Endpoint] = {endpoint.name: endpoint for endpoint in CATALOGUE}
