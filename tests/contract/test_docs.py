"""The documents fail a test when they drift from the code."""

import re
from pathlib import Path

from api.causes import Cause
from api.discovery.table import markdown
from api.errors import ERROR_KINDS
from jobs.catalogue import CATALOGUE
from shared.endpoint import Pool
from shared.process.setting_names import NOT_SETTINGS
from shared.settings.service import Settings
from tests.each import each

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text()


def test_the_readmes_endpoint_table_is_the_catalogues() -> None:
    """`python -m api.discovery.table` prints what stands between the markers."""
    found = re.search(r"<!-- endpoints -->\n(.*?)<!-- /endpoints -->", text("README.md"), re.DOTALL)
    assert found is not None
    assert found.group(1) == markdown(CATALOGUE), (
        "Write what `python -m api.discovery.table` prints into README.md, between <!-- endpoints --> and <!-- /endpoints -->"
    )


def test_the_readme_counts_the_endpoints_and_names_the_unlisted() -> None:
    """The table has the listed ones alone."""
    readme, unlisted = text("README.md"), [endpoint for endpoint in CATALOGUE if not endpoint.listed]
    listed = len(CATALOGUE) - len(unlisted)
    assert len(unlisted) == 1
    assert f"all {len(CATALOGUE)} endpoints are built: {listed} listed and one unlisted." in readme
    for endpoint in unlisted:
        assert f"`{endpoint.name}` ({endpoint.price.text()})" in readme


def test_every_setting_is_documented() -> None:
    """With its name and its default."""
    settings = text("docs/settings.md")
    for name in Settings().variables():
        assert f"`{name}`" in settings


def test_every_cause_is_documented() -> None:
    """With its HTTP status, and no other cause is."""
    rows = re.findall(r"^\| `(\w+)` \| (\d{3}) \| (?:true|false|unknown) \|", text("docs/operations.md"), re.MULTILINE)
    statuses = {cause.reason: ERROR_KINDS[cause.code].status if cause.code in ERROR_KINDS else 402 for cause in Cause}
    assert [name for name, _ in rows] == list(dict.fromkeys(name for name, _ in rows))
    assert {name: int(status) for name, status in rows} == statuses


def test_no_unknown_setting_is_documented() -> None:
    """What a document names, something reads."""
    sources = "\n".join(
        path.read_text()
        for folder in ("shared", "client", "compose", "api", "workers", "facilitator")
        for path in (ROOT / folder).rglob("*.py")
    )
    known = {*Settings().variables(), *NOT_SETTINGS}
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for name in set(re.findall(r"COINSLOT_[A-Z_]+[A-Z]", document.read_text())):
            assert name in known or name in sources, f"{document.name} names {name}"


@each("document", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_links_between_documents_lead_somewhere(document: str) -> None:
    """Every relative link names a file that is there."""
    folder = (ROOT / document).parent
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text(document)):
        assert (folder / target).exists(), f"{document} links to {target}"


def test_the_procfile_has_one_line_per_pool() -> None:
    """Each worker line serves exactly its pool's queue."""
    queues = re.findall(r"^worker-(\w+):.* --queues (\w+) ", text("Procfile"), re.MULTILINE)
    assert queues == [(pool.value, pool.value) for pool in Pool]
