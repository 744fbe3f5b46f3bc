"""Records of registered domains, in every format that is known.

Each file of registered_domains/ has what is to be read, as TOML, a line `---`, and the text. The formats are the registries';
registrants, figures and dates are made up.
"""

import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

from jobs.whois.endpoint import iso
from jobs.whois.record import Record, is_refusal, read
from jobs.whois.rules import rules_of
from tests.each import each

FILES = sorted((Path(__file__).parent / "registered_domains").glob("*.txt"))
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


@each("file", FILES, ids=[file.stem for file in FILES])
def test_a_record(file: Path) -> None:
    """Every field that is in the text is read, and nothing that is not."""
    header, _, text = file.read_text().partition("\n---\n")
    fields = tomllib.loads(header)
    domain = fields.pop("domain")
    for written in (text, text.replace("\n", "\r\n")):
        record = read(written, [domain], rules_of(domain))
        assert plain(record) == {"registered": True, **EMPTY, **fields}
        assert not is_refusal(written)
