"""The side-by-side benchmark: `scripts/bench [--quick] [--only hop,http] [--against CHECKOUT] [--write-docs]`."""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from compose.sandbox.child import ROOT
from shared.settings.service import PREFIX
from tests.bench import proc
from tests.bench.measure import calculations, growth, hop, http, isolation, paid, recovery, settle
from tests.bench.processes import RIVALS_PYTHON, VAR
from tests.bench.report import markdown, write_between_markers
from tests.bench.results import FULL, QUICK, Effort, Table
from tests.bench.targets import judge

DOCS = ROOT / "docs"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OURS, RIVALS = (
    ("litestar", "granian", "dramatiq"),
    ("fastapi", "uvicorn", "saq", "celery", "web3", "x402"),
)

BUSY_SHARE = 0.1
"""With more than that taken by others, systems of several processes look worse beside those of one."""

SECTIONS: dict[str, Callable[[Effort], Table | tuple[Table, ...]]] = {
    "hop": hop.measure,
    "http": http.measure,
    "paid,challenge": paid.measure,
    "isolation": isolation.measure,
    "workers": growth.measure_workers,
    "callers": growth.measure_callers,
    "recovery": recovery.measure,
    "settle,gas,channels": settle.measure,
    "calculations": calculations.measure,
}
"""In the order of the report. One that fills several tables has as many names."""


class Interrupted(BaseException):
    """One of ENDING."""


def main(argv: list[str] | None = None) -> int:
    """Measure, print, keep. Exit code 0, or 1 when a section could not be measured, or 130 when interrupted."""
    arguments = _arguments(argv)
    _forget_surroundings()
    for number in ENDING:
        signal.signal(number, _interrupt)
    try:
        if arguments.show:
            run, failures = json.loads(arguments.show.read_text()), []
        else:
            run, failures = _run(arguments)
    except Interrupted:
        print("\nbench: stopped", file=sys.stderr)
        return 130
    print(markdown(run), end="")
    if not arguments.show:
        _draw(_keep(run))
    if run["others_share"] > BUSY_SHARE:
        print(f"bench: other programs took {run['others_share']:.0%} of the machine: compare nothing", file=sys.stderr)
    if arguments.write_docs and not failures:
        if run["effort"] != FULL.name:
            failures.append("--write-docs takes a whole run")
        else:
            _write_docs(run)
    for failure in failures:
        print(f"bench: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measure this project beside what one would use instead."
    )
    parser.add_argument("--quick", action="store_true", help="one short round: some minutes, and rough")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,...", help=", ".join(SECTIONS))
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="time the calculations of this older checkout in turns with ours",
    )
    parser.add_argument("--show", type=Path, metavar="FILE", help="measure nothing: print an earlier run's JSON file")
    parser.add_argument("--write-docs", action="store_true", help="put the whole run into docs/performance.*")
    arguments = parser.parse_args(argv)
    unknown = set(arguments.only or ()) - {name for names in SECTIONS for name in names.split(",")}
    if unknown:
        parser.error(f"--only: there is no section {', '.join(sorted(unknown))}")
    if arguments.write_docs and (arguments.quick or arguments.only or arguments.against):
        parser.error("--write-docs takes a whole run")
    if arguments.against and not (arguments.against / "jobs").is_dir():
        parser.error(f"--against: {arguments.against} is no checkout of this project")
    return arguments


def _forget_surroundings() -> None:
    """What is measured is neither set up by this shell, nor sent through its proxy, nor short of files."""
    for name in list(os.environ):
        if name.startswith(PREFIX) or name.lower().endswith("_proxy"):
            del os.environ[name]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _interrupt(number: int, frame: FrameType | None) -> None:
    # A second Ctrl-C must not interrupt the orderly stop.
    for ending in ENDING:
        signal.signal(ending, signal.SIG_IGN)
    raise Interrupted


def _run(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    effort = QUICK if arguments.quick else FULL
    started, others = time.monotonic(), proc.Others()
    tables: dict[str, Any] = {}
    failures = []
    sections = {**SECTIONS, "calculations": partial(calculations.measure, against=arguments.against)}
    for names, measure in sections.items():
        if arguments.only and not set(arguments.only) & set(names.split(",")):
            continue
        begun = time.monotonic()
        print(f"bench: {names} ...", end="", file=sys.stderr, flush=True)
        try:
            measured = measure(effort)
            print(f" {time.monotonic() - begun:.0f} s", file=sys.stderr)
        except Exception as error:
            print(file=sys.stderr)
            traceback.print_exc()
            failures.append(f"{names} could not be measured: {error}")
            continue
        found = measured if isinstance(measured, tuple) else (measured,)
        tables |= {name: table.to_json() for name, table in zip(names.split(","), found, strict=True)}
    run = {
        "effort": effort.name,
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "minutes": (time.monotonic() - started) / 60,
        "cores": os.cpu_count(),
        "others_share": others.share(),
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "versions": {name: importlib.metadata.version(name) for name in OURS} | _rival_versions(RIVALS),
        "tables": tables,
    }
    run["bars"] = judge({name: Table.from_json(content) for name, content in tables.items()})
    return run, failures


def _rival_versions(names: Iterable[str]) -> dict[str, str]:
    program = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    try:
        said = subprocess.run([RIVALS_PYTHON, "-c", program, *names], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    versions: dict[str, str] = json.loads(said.stdout)
    return versions


def _keep(run: dict[str, Any]) -> Path:
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    path = VAR / f"{moment}-{run['effort']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run, indent=1) + "\n")
    print(f"bench: kept in {path.relative_to(ROOT)}", file=sys.stderr)
    return path


def _draw(path: Path, settle: Path | None = None) -> None:
    """Beside the file. Without the rivals' environment there is no matplotlib, and no picture."""
    if RIVALS_PYTHON.exists():
        pictures = path.with_suffix(".png"), settle or path.with_name(path.stem + "-settle.png")
        subprocess.run([RIVALS_PYTHON, "-m", "tests.bench.plot", path, *pictures], cwd=ROOT, check=True)


def _write_docs(run: dict[str, Any]) -> None:
    path = DOCS / "performance.json"
    path.write_text(json.dumps(run, indent=1) + "\n")
    _draw(path, DOCS / "pictures" / "settle.png")
    write_between_markers(DOCS / "performance.md", markdown(run))


if __name__ == "__main__":
    sys.exit(main())
