"""Takes sentences and pieces out of documents: text, Python, YAML, JSON and catalogues of messages."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import yaml  # type: ignore[import-untyped]

PIECE = 3_000
"""Characters: longer documents are cut at a blank line."""


def translations(raw: str) -> Iterator[str]:
    """The translated messages of a catalogue (PO) that are sentences."""
    for first, rest in re.findall(r'msgstr "((?:[^"\\]|\\.)*)"((?:\n"(?:[^"\\]|\\.)*")*)', raw):
        text = (first + "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', rest))).replace("\\n", "\n").replace('\\"', '"')
        if len(text) > 25 and "Content-Type" not in text:
            yield text


def pieces(text: str, size: int = PIECE) -> list[str]:
    """The text in pieces of about `size` characters, cut at blank lines where there are some."""
    cut: list[str] = []
    piece = ""
    for part in re.split(r"\n\s*\n", text):
        if piece and len(piece) + len(part) > size:
            cut.append(piece)
            piece = ""
        piece = f"{piece}\n\n{part[: 2 * size]}" if piece else part[: 2 * size]
    return [*cut, piece] if piece.strip() else cut


def strings(raw: str, least: int = 60) -> Iterator[str]:
    """The strings of a Python module that are sentences."""
    try:
        tree = ast.parse(raw)
    except (SyntaxError, ValueError):
        return
    inner: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inner |= {id(value) for value in node.values}
            text = "".join(map(_part, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            text = node.value
        else:
            continue
        if len(text) >= least and text.count(" ") > 8:
            yield text


def _part(value: ast.expr) -> str:
    """A part of a formatted string: its text, or the name that is filled in."""
    if isinstance(value, ast.Constant):
        return str(value.value)
    named = isinstance(value, ast.FormattedValue) and isinstance(value.value, ast.Name)
    return f"{{{value.value.id}}}" if named else "X"  # type: ignore[attr-defined]


def seeds(raw: str) -> Iterator[str]:
    """The values of a YAML document of seeds: its own one, and those in its list."""
    content = yaml.safe_load(raw)
    if isinstance(content, dict):
        rows = [content, *(seed for seed in content.get("seeds") or () if isinstance(seed, dict))]
        yield from (seed["value"] for seed in rows if isinstance(seed.get("value"), str))


def pieces_of_data(raw: str) -> list[str]:
    """The sentences in a YAML or JSON document; a conversation is one text; other text is cut in pieces."""
    try:
        content = (
            yaml.load(raw, Loader=yaml.CSafeLoader) if not raw.lstrip().startswith(("{", "[")) else json.loads(raw)
        )
    except (yaml.YAMLError, ValueError):
        return pieces(raw)[:4] if raw.count(" ") > 8 else []
    if isinstance(content, dict) and isinstance(content.get("conversations"), list):
        return ["\n".join(map(str, turn)) for turn in content["conversations"] if isinstance(turn, list)]
    if isinstance(content, str):
        return pieces(content)[:4]
    return [piece for sentence in said(content) for piece in pieces(sentence)[:3]]


def said(value: Any) -> Iterator[str]:
    """The strings of several words in a document."""
    if isinstance(value, str):
        if len(value) >= 40 and value.count(" ") > 4:
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from said(inner)
