"""Scripts are loaded with all that they name, and are given all that they name, or it is noticed at once."""

import re
from pathlib import Path

import pytest

from shared.lua_script import LuaScript, load, piece, read
from tests.each import each

ROOT = Path(__file__).parents[2]
FILES = sorted(file for folder in ("api", "shared", "workers") for file in (ROOT / folder).rglob("*.lua"))
SCRIPT = """#!lua
-- Not a constant: LIMIT.
local record = unpack(KEYS)
local id, ttl_s = unpack(ARGV)
return redis.call('SET', record, id, 'EX', TTL_S)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "script.lua"
    file.write_text(SCRIPT)
    return file


def test_a_script_has_its_flags_then_its_pieces_then_itself(file: Path, tmp_path: Path) -> None:
    """With the values of constants, and of nothing that only looks like one."""
    (tmp_path / "name.lua").write_text("local name = NAME\n")
    name = piece(tmp_path / "name.lua", NAME="a")
    flags, _, text = SCRIPT.replace("TTL_S)", "5)").partition("\n")
    script = load(file, name, TTL_S=5)
    assert script.text == f"{flags}\nlocal name = 'a'\n\n{text}"
    assert script.with_flags("allow-oom").text == f"#!lua flags=allow-oom\nlocal name = 'a'\n\n{text}"


@pytest.mark.parametrize("constants", [{}, {"TTL": 5}, {"TTL_S": 5, "LIMIT": 5}], ids=repr)
def test_constants_are_those_of_the_file(file: Path, constants: dict[str, int]) -> None:
    """One that is missing or is not used ends the import."""
    with pytest.raises(ValueError, match="has the constants"):
        load(file, **constants)


def test_values_are_sent_in_the_order_of_the_script(file: Path) -> None:
    """By its text, and by its hash."""
    script, values = load(file, TTL_S=5), {"record": "r", "id": "i", "ttl_s": 7}
    assert script.eval(values) == ("EVAL", script.text, 1, "r", "i", 7)
    command, _, *rest = script.evalsha(values)
    assert (command, rest) == ("EVALSHA", [1, "r", "i", 7])


@pytest.mark.parametrize("names", ["record id ttl", "record id", "record id ttl_s x", "record ttl_s id"])
def test_other_names_are_refused(file: Path, names: str) -> None:
    """Also the same in another order: who reads the call and the script sees one list."""
    with pytest.raises(TypeError, match="takes record, id, ttl_s"):
        load(file, TTL_S=5).evalsha(dict.fromkeys(names.split(), "x"))


def test_a_name_means_one_value(file: Path) -> None:
    """A key and an argument have no common name."""
    with pytest.raises(ValueError, match="twice"):
        LuaScript(SCRIPT.replace("id,", "record,"))


@each("file", FILES)
def test_a_script_says_what_it_takes(file: Path) -> None:
    """Its first comment has every key and argument by name."""
    text = read(file)
    comment = text[: re.search(r"^(?!#|--)", text, re.MULTILINE).start()]
    for names in re.findall(r"^local ([\w,\s]+) = unpack\((?:KEYS|ARGV)\)$", text, re.MULTILINE):
        missing = set(re.findall(r"\w+", names)) - set(re.findall(r"\w+", comment))
        assert not missing, f"{file.name}: its first comment does not say what {missing} is"
