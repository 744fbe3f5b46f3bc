"""METHODS: the names that a request may use, with their functions. Any other name is refused.

The names are those of all faker-js methods (@faker-js/faker 10) that need no argument. `helpers.*`, `date.between`,
`date.betweens` and `string.fromCharacters` are missing, because they need arguments.
"""

import re
from importlib import import_module
from pathlib import Path

from jobs.faker.lists import LISTS
from jobs.faker.source import Method, one_of
from jobs.tables import sections


def _method(module: str, name: str) -> Method:
    """A section of lists.txt has the values, or a module's function of the same name in snake case makes them. An underscore
    follows a word of Python's."""
    if f"{module}.{name}" in LISTS:
        return one_of(f"{module}.{name}")
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    taken = words in {"type", "format", "int", "float", "hex"}
    function: Method = getattr(import_module(f"jobs.faker.{module}"), f"{words}_" if taken else words)
    return function


METHODS: dict[str, Method] = {
    f"{module}.{name}": _method(module, name)
    for module, names in sections(Path(__file__).with_name("methods.txt")).items()
    for name in names.split()
}
