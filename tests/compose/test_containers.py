"""What describes the containers fits the published schemas, and says what the Procfile, the pools and the settings say."""

import json
import re
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from redis.exceptions import ConnectionError as NoConnection

from compose.probe import silent
from compose.processes import STAGES
from compose.procfile import read_procfile
from compose.sandbox.child import ROOT
from shared.pools import Pool
from shared.process.setting_names import unknown
from tests.each import each

SCHEMAS = Path(__file__).with_name("schemas")
COMPOSE = ROOT / "compose" / "compose.yaml"
STOP_S = {stage.name: stage.stop_timeout_s for stage in STAGES}
COMMANDS = {line.name: [word for word in line.command if word not in ("nice", "-n", "10")] for line in read_procfile()}


def environment(text: str) -> dict[str, str]:
    """The COINSLOT_ names of a text, with any value."""
    return dict.fromkeys(re.findall(r"\b(COINSLOT_[A-Z0-9_]*[A-Z0-9])=", text), "")


def test_the_compose_file_is_one_and_runs_what_the_procfile_runs() -> None:
    """Every line has a service with its command, more time to stop than it needs, and no more rights than it needs."""
    content = yaml.safe_load(COMPOSE.read_text())
    schema = json.loads((SCHEMAS / "compose.json").read_text())
    Draft202012Validator(schema).validate(content)

    services = content["services"]
    assert {name: services[name]["command"] for name in COMMANDS} == COMMANDS
    for name, service in services.items():
        assert "container_name" not in service, name
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert not service["user"].startswith("0"), name
        assert "no-new-privileges=true" in service["security_opt"], name
        assert name == "ops" or "healthcheck" in service, name
        assert int(service["stop_grace_period"].removesuffix("s")) > STOP_S.get(name, STOP_S[None]) or name in OTHERS, (
            name
        )
        assert unknown(service.get("environment", {})) == [], name
        for secret in service.get("secrets", ()):
            assert secret in content["secrets"], name
    assert "settler_key" not in {
        s for name, each in services.items() if name != "facilitator" for s in each.get("secrets", ())
    }
    assert {services[f"worker-{pool}"]["networks"] == ["inside"] for pool in (Pool.MICRO, Pool.FAST)} == {True}
    for example in ("coinslot.env.example", "facilitator.env.example"):
        assert unknown(environment(COMPOSE.with_name(example).read_text())) == [], example


OTHERS = ("ledger", "queue", "prometheus", "grafana")
"""Programs of others, which have no calls to finish."""


def test_the_containerfile_has_a_target_for_every_image() -> None:
    """Each is another user than root in the end, and the browser keeps its sandbox."""
    text = (ROOT / "Containerfile").read_text()
    stages = dict(re.findall(r"^FROM \S+ AS (\S+)\n(.*?)(?=^FROM |\Z)", text, re.MULTILINE | re.DOTALL))
    services = yaml.safe_load(COMPOSE.read_text())["services"]

    targets = {service["build"]["target"] for service in services.values() if "build" in service}
    images = {name for name, stage in stages.items() if "\nCMD " in stage}
    assert targets == images - {"sandbox"}  # which has all of them in one container
    for name in images:
        users = re.findall(r"^USER (\d+)", stages["base"] + stages[name], re.MULTILINE)
        assert users[-1] in ("65532", "65533"), name
        assert "HEALTHCHECK" in stages[name], name
        assert "python3-venv" not in stages[name], name
    assert "no-sandbox" not in text
    assert unknown(environment(text)) == []


DEBIANS = {f"/usr/bin/{name}" for name in ("apt-get", "chmod", "install", "printf", "python3", "rm")}
"""The programs of the base image, and what it installs, that the Containerfile runs."""


def test_every_program_of_a_run_is_on_the_path_of_its_stage() -> None:
    """A stage begins with the PATH and the files of another. A RUN may make a program with `>`, and a COPY may bring one."""
    text = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    paths, programs = {"${BASE}": ""}, {"${BASE}": DEBIANS}
    ran = 0
    for parent, stage, steps in re.findall(r"^FROM (\S+) AS (\S+)\n(.*?)(?=^FROM |\Z)", text, re.MULTILINE | re.DOTALL):
        paths[stage], programs[stage] = paths[parent], set(programs[parent])
        for step, words in re.findall(r"^(ENV|COPY|RUN) (.*)", steps, re.MULTILINE):
            if step == "ENV":
                paths[stage] = dict(word.partition("=")[::2] for word in words.split()).get("PATH", paths[stage])
                continue
            made = re.findall(r">\s*(/\S+)", words) if step == "RUN" else words.split()[-1:]
            for command in words.split("&&") if step == "RUN" else ():
                program = command.split()[0]
                if program.startswith("/"):
                    found = program.startswith(tuple(re.findall(r"-m venv (\S+)", words)))
                else:
                    found = bool({f"{folder}/{program}" for folder in paths[stage].split(":")} & programs[stage])
                assert found, f"{stage}: {program} is not on the PATH {paths[stage]}"
                ran += 1
            programs[stage].update(made)
    assert ran > len(paths)


def test_what_a_build_takes_is_there() -> None:
    """Sources are in the context, and are not ignored; stages are made before they are copied from; every role has its lock."""
    text = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    ignored = set((ROOT / ".dockerignore").read_text().split())
    packed = re.search(r"tar -c --exclude \S+ ([^)]+)\)", (ROOT / "scripts" / "install").read_text())
    assert packed
    needed = {Path(name) for name in (*packed[1].split(), "locks", "scripts/install")}
    stages: set[str] = set()
    copied: list[Path] = []
    for step, words in re.findall(r"^(FROM|COPY|RUN) (.*)", text, re.MULTILINE):
        if step == "FROM":
            parent, _, stage = words.split()
            assert parent == "${BASE}" or parent in stages
            stages.add(stage)
        elif source := re.match(r"--from=(\S+)", words):
            assert source[1] in stages
        elif step == "COPY":
            for name in words.split()[:-1]:
                assert (ROOT / name).exists(), name
                assert not {name, name.partition("/")[0]} & ignored, name
                copied.append(Path(name))
        elif role := re.match(r"build-role (\S+)", words):
            assert (ROOT / "locks" / f"{role[1]}.lock").exists()
            assert needed <= set(copied)
        for name in re.findall(r"/source/([\w/.-]+\.lock|scripts/\w+)", words):
            assert (ROOT / name).exists(), name
            assert {Path(name), *Path(name).parents} & set(copied), name
    assert len(copied) > len(stages) / 2


class Queue:
    """A queue that knows these consumers; None: it does not answer."""

    def __init__(self, idle: dict[str, int] | None) -> None:
        self.idle = idle

    def xinfo_consumers(self, stream: str, group: str) -> list[dict[str, Any]]:
        """As redis-py has it."""
        if self.idle is None:
            raise NoConnection
        return [{"name": name.encode(), "idle": idle} for name, idle in self.idle.items()]


@each(
    ("idle", "reason"),
    [
        (None, ""),
        ({"here:1": 90_000, "here:2": 300}, ""),
        ({"here:1": 90_000, "there:1": 300}, "net: silent for 90000 ms"),
        ({"here2:1": 300}, "net: no worker of this host"),
    ],
)
def test_a_worker_is_well_while_its_own_consumer_reads(idle: dict[str, int] | None, reason: str) -> None:
    """Not another host's; and a queue that does not answer says nothing of its workers."""
    assert silent(Queue(idle), "net", "here") == reason
