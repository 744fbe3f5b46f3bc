"""Endpoints of other packages: what is sold, and what is refused with a sentence."""

import dataclasses
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from api.__main__ import application
from compose import processes
from compose.package_workers import all_lines, worker_line
from compose.procfile import PROCFILE, read_procfile
from jobs import catalogue, echo
from jobs.fields import doc
from jobs.package_contract import breaches_of
from jobs.package_imports import forbidden_imports
from jobs.packages import RefusedPackage
from jobs.site import SiteRequest
from shared.call_path import path_of, split
from shared.endpoint import PACKAGE_REFUSED, Endpoint, Example
from shared.money import Price
from shared.pools import POOLS, PoolPolicy, add_pool
from tests.each import each
from tests.packages import Environment, environment

__all__ = ["environment"]

ECHO = dataclasses.replace(echo.ENDPOINT, name="acme/echo")


class Wordless(msgspec.Struct):
    """A body whose field has no sentence."""

    text: str = ""


class Recursive(msgspec.Struct):
    """A body that contains itself."""

    inner: Annotated["Recursive | None", doc("More of it.")] = None


class Unchecked(msgspec.Struct):
    """A body with a check that nobody calls."""

    message: Annotated[str, doc("A text.")] = "hello"

    def check(self, site: object) -> None:
        """Nobody calls it."""


class Rounded(msgspec.Struct, omit_defaults=True):
    """An answer that leaves out what its example shows."""

    message: Annotated[str, doc("A text.")] = ""


def test_ours_keep_the_contract() -> None:
    """What packages are held to is no more than what we keep."""
    assert [f"{one.name}: {breach}" for one in catalogue.CATALOGUE for breach in breaches_of(one)] == []
    # What trains a model is in no wheel.
    assert [one for one in forbidden_imports("jobs") if "/training/" not in one] == []


def test_what_is_installed_is_sold_after_ours(environment: Environment) -> None:
    """A list, or a function that gives one. Each is found by its name, and its path is below its prefix."""
    other = dataclasses.replace(ECHO, name="other-shop/echo")
    environment.install("other-shop", lambda: [other])
    environment.install("acme", (ECHO,))
    assert catalogue.installed() == (*catalogue.CATALOGUE, ECHO, other)
    assert catalogue.installed_by_name()["acme/echo"] is ECHO
    assert (ECHO.path, ECHO.operation_id) == ("/v1/acme/echo", "acmeEcho")


@each("name", ["echo", "chain/chain-id", "acme/slug", "acme/chain"])
def test_a_path_and_its_name_belong_together(name: str) -> None:
    """Whatever stands before the path, even another one like it."""
    for base in ("", "https://shop.example", "https://shop.example/v1", "https://shop.example/v1/acme/x"):
        assert split(base + path_of(name)) == (base, name)
    for none in (
        f"/v2/cdp/{name}",
        f"{path_of(name)}/",
        f"{path_of(name)}?a=b",
        f"/v1/{name.upper()}",
        f"/v1/acme/x/{name}",
        f"/v1/cdp/cdp/{name}",
    ):
        assert split(none) == ("", "")


def test_a_pool_of_a_package_gets_a_worker(environment: Environment) -> None:
    """Beside any Procfile, unless one of its lines has it."""
    assert all_lines(PROCFILE) == read_procfile(PROCFILE)
    policy = dataclasses.replace(POOLS["fast"], threads=3)
    environment.install("acme", (dataclasses.replace(ECHO, pool=add_pool("acme-slow", policy)),))
    *lines, added = all_lines(PROCFILE)
    assert (lines, added) == (read_procfile(PROCFILE), worker_line("acme-slow"))


def test_our_workers_are_started_as_those_of_packages() -> None:
    """One form of the command for both."""
    lines = {line.name: line for line in read_procfile(PROCFILE)}
    assert [worker_line(pool) for pool in POOLS] == [lines[f"worker-{pool}"] for pool in POOLS]


def changed(**changes: Any) -> tuple[Endpoint, ...]:
    """The endpoint of the package, declared otherwise."""
    return (dataclasses.replace(ECHO, **changes),)


def with_check() -> tuple[Endpoint, ...]:
    """A request that needs a Site, in a child that has none."""

    class Needy(SiteRequest, frozen=True):
        message: Annotated[str, doc("A text.")] = "hello"

    return changed(request=Needy, pool="fast", is_long=lambda _: True)


@each(
    ("prefix", "value", "sentence"),
    [
        ("cdp", (ECHO,), "the prefix 'cdp' is Coinslot's own"),
        ("chain", (ECHO,), "the prefix 'chain' is Coinslot's own"),
        ("Acme", (ECHO,), "the prefix 'Acme' is not lower-case words joined by '-'"),
        ("2nd", (ECHO,), "the prefix '2nd' is not lower-case words"),
        ("acme", (), "its entry point names no endpoint"),
        ("acme", ("echo",), "its entry point gives 'str' in place of Endpoints"),
        ("acme", 5, "cannot be loaded: TypeError"),
        ("acme", (echo.ENDPOINT,), "echo is to be named acme/echo, after its entry point"),
        ("acme", (ECHO, ECHO), "acme/echo has the operation id 'acmeEcho', as acme/echo"),
        ("x402", changed(name="x402/discover"), "x402/discover has the operation id 'x402Discover', as x402-discover"),
        ("acme", changed(price=Price.of("0.0000001")), "acme/echo: the price 0.0000001 has more than 6 decimals"),
        (
            "acme",
            changed(response=Wordless, example=Example({}, {"text": ""})),
            "the field response.text has no sentence",
        ),
        ("acme", changed(request=Recursive), "its request has no JSON Schema: .*contains itself"),
        ("acme", changed(request=Unchecked), "its request has a method `check`, and is no SiteRequest"),
        ("acme", with_check(), "a SiteRequest cannot run in a child process"),
        (
            "acme",
            changed(response=Rounded, example=Example({}, {"message": ""})),
            "the response of its example is not what",
        ),
        ("acme", changed(failures=("no_stock",)), "the failure 'no_stock' has no sentence in failure_texts"),
    ],
)
def test_what_cannot_be_sold_is_refused(environment: Environment, prefix: str, value: Any, sentence: str) -> None:
    """When a process starts, with one sentence that names the package."""
    environment.empty()
    environment.install(prefix, value)
    with pytest.raises(RefusedPackage, match=sentence) as refused:
        catalogue.installed()
    assert str(refused.value).startswith("package_0 1.0: ")
    assert "\n" not in str(refused.value)


def test_a_failure_with_a_sentence_is_sold(environment: Environment) -> None:
    """The package brings it."""
    environment.install("acme", changed(failures=("no_stock",), failure_texts={"no_stock": "The shop has none left."}))
    assert catalogue.installed()[-1].name == "acme/echo"


def test_one_prefix_is_one_packages(environment: Environment) -> None:
    """Both are named."""
    environment.install("acme", (ECHO,))
    environment.install("acme", (ECHO,))
    with pytest.raises(
        RefusedPackage, match=r"package_0 1\.0 and package_1 1\.0: only one of them can have the prefix 'acme'"
    ):
        catalogue.installed()


@each(
    ("source", "sentence"),
    [
        ("import socket", "package_0.py:1 imports socket: what is outside comes through ports"),
        ("def run():\n    from urllib import request", "package_0.py:2 imports urllib.request: what is outside"),
        ("import http.client as h", "imports http.client"),
        (
            "from shared.nodes.json_rpc import call",
            "imports shared.nodes.json_rpc.call: of Coinslot an endpoint may import",
        ),
        ("import api.app", "imports api.app: of Coinslot an endpoint may import jobs and shared alone"),
        ("import no_such_module", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("from http import HTTPStatus", "cannot be loaded: AttributeError"),
        ("VALUE = (", "cannot be loaded: SyntaxError"),
        ("import sys\nsys.exit(0)", "cannot be loaded: SystemExit: 0"),
    ],
)
def test_what_opens_connections_or_cannot_be_imported_is_refused(
    environment: Environment, source: str, sentence: str
) -> None:
    """Its sources are read first, and then it is imported."""
    environment.empty()
    environment.install("acme", None, source)
    with pytest.raises(RefusedPackage, match=sentence):
        catalogue.installed()


def test_pools_have_names_of_their_package(environment: Environment) -> None:
    """So that two packages, or we in a later version, do not name the same one."""
    policy = dataclasses.replace(POOLS["fast"], threads=3)
    with pytest.raises(ValueError, match="there is another pool fast"):
        add_pool("fast", policy)
    for wrong in ("Acme", "2nd", "acme_slow", ""):
        with pytest.raises(ValueError, match="lower-case words"):
            add_pool(wrong, policy)
    with pytest.raises(ValueError, match="must be positive"):
        add_pool("acme-none", dataclasses.replace(policy, room=0))
    environment.install("acme", changed(pool=add_pool("slow", policy)))
    with pytest.raises(RefusedPackage, match=r"the pool slow of acme/echo is to be named acme or acme-…"):
        catalogue.installed()


def test_a_policy_can_be_declared_again() -> None:
    """A module may be imported twice."""
    assert isinstance(POOLS["fast"], PoolPolicy)
    assert add_pool("fast", POOLS["fast"]) == "fast"


def test_the_start_is_refused_with_the_sentence(
    environment: Environment, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the API, of all processes together, and by the command that the doctor runs."""
    environment.install("acme", None, "import socket")
    said = "package_0 1.0: package_0.py:1 imports socket: what is outside comes through ports (jobs/ports)"
    key = tmp_path / "key"
    key.write_text("00" * 32)
    monkeypatch.setenv("COINSLOT_KEY_FILE", str(key))
    with pytest.raises(SystemExit, match=re.escape(f"coinslot: {said}")):
        application()
    assert processes.main([]) == 1
    assert capsys.readouterr().err == f"coinslot: {said}\n"
    assert catalogue.main() == PACKAGE_REFUSED
    assert capsys.readouterr().err == f"{said}\n"


def test_what_is_installed_is_listed(environment: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    """And discovery's date is that of the installation, if it is younger than ours."""
    assert catalogue.updated() == datetime.fromisoformat(catalogue.UPDATED)
    environment.install("acme", (ECHO,))
    assert catalogue.main() == 0
    assert capsys.readouterr().out == "acme/echo $0.001, pool micro, of package_0 1.0\n"
    os.utime(environment.folder / "package_0-1.0.dist-info/METADATA", (4e9, 4e9))
    environment.look_again()
    assert catalogue.updated().timestamp() == 4e9
