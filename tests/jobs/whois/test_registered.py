"""Records of registered domains, in every format that is known."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from jobs.whois.dates import iso
from jobs.whois.record import Record, is_throttled, read
from jobs.whois.rules import rules_of
from tests.each import each
from tests.jobs.whois import registered, registered_more, registered_small
from tests.jobs.whois.registered import Case

CASES = {
    f"{name}-{case.domain}": case
    for module in (registered, registered_more, registered_small)
    for name, case in vars(module).items()
    if isinstance(case, Case)
}
EMPTY: dict[str, Any] = dict.fromkeys(
    ("registrar", "registrar_iana_id", "registrar_url", "created", "updated", "expires", "dnssec", "refers_to")
) | {"name_servers": [], "status": []}


def plain(record: Record) -> dict[str, Any]:
    """The fields as they are answered."""

    def of(value: Any) -> Any:
        if isinstance(value, datetime):
            return iso(value)
        return list(value) if isinstance(value, tuple) else value

    return {name: of(getattr(record, name)) for name in ("registered", *EMPTY)}


@each("case", CASES.values(), ids=CASES)
def test_a_record(case: Case) -> None:
    """Every field that is in the text, and nothing that is not."""
    for text in (case.text, case.text.replace("\n", "\r\n")):
        record = read(text, [case.domain], rules_of(case.domain))
        assert plain(record) == {"registered": True, **EMPTY, **case.fields}
        assert not is_throttled(text)
