"""The tables of docs/llm-tool-validate.md are what the call does."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from jobs.llm_tool_validate.endpoint import Request, run
from jobs.ports import Context
from tests.each import each

PAGE = Path(__file__).parents[3] / "docs" / "llm-tool-validate.md"
COERCED, NOT_COERCED = (
    re.findall(r"^\| `(.*?)` \| `(.*?)` \| (.*?) \|$", part, re.MULTILINE)
    for part in PAGE.read_text().split("## What is not")
)


def answer(schema: str, data: str) -> dict[str, Any]:
    """Of the call, with coercion."""
    request = Request(schema=json.loads(schema), data=msgspec.Raw(data.encode()), coerce=True)
    decoded: dict[str, Any] = json.loads(msgspec.json.encode(run(request, Context(payer="0x0"))))
    return decoded


def test_there_are_tables() -> None:
    """The page is read as it was written."""
    assert (len(COERCED), len(NOT_COERCED)) == (21, 18)


@each(("schema", "data", "becomes"), COERCED)
def test_what_is_coerced(schema: str, data: str, becomes: str) -> None:
    """It becomes the very JSON that the page has, and fits."""
    said = answer(schema, data)
    assert json.dumps(said["data"]) == becomes.strip("`")
    assert said["valid"] is True
    assert said["coercions"]


@each(("schema", "data", "because"), NOT_COERCED)
def test_what_is_not(schema: str, data: str, because: str) -> None:
    """It stays as it is; only what fits is valid."""
    said = answer(schema, data)
    assert (said["data"], said["coercions"]) == (json.loads(data), [])
    assert said["valid"] is (because == "it fits")


def test_the_request_of_the_page() -> None:
    """It can be sent as it stands there."""
    found = re.search(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    said = msgspec.to_builtins(run(msgspec.json.decode(found.group(1), type=Request), Context(payer="0x0")))
    assert said["data"] == {"guests": 4}
