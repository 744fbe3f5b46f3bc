"""`coinslot-ops new-endpoint PREFIX/NAME`: writes a pip package with one endpoint and its test, which passes as it is."""

import keyword
import re
import sys
from pathlib import Path
from string import Template

from shared.call_path import FOLDERS, OWN

_WORDS = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)
_TEMPLATES = Path(__file__).with_name("package_template")


def write(wanted: str, into: Path) -> int:
    """Write the package into a new folder. Returns the exit code.

    Args:
        wanted: ``acme/slug``; a name without a prefix is its own.
        into: where the folder is made.
    """
    prefix, _, name = wanted.rpartition("/")
    prefix = prefix or name
    if why := _refusal(prefix, name):
        print(f"coinslot-ops: {why}", file=sys.stderr)
        return 2
    package, module = f"coinslot_{prefix.replace('-', '_')}", name.replace("-", "_")
    folder = into / f"coinslot-{prefix}"
    names = {"prefix": prefix, "name": name, "package": package, "module": module}
    files = {
        "pyproject.toml": "pyproject.toml",
        f"{package}/__init__.py": "__init__.py",
        f"{package}/{module}.py": "endpoint.py",
        f"tests/test_{module}.py": "test.py",
    }
    try:
        folder.mkdir(parents=True)
        for path, template in files.items():
            target = folder / path
            target.parent.mkdir(exist_ok=True)
            target.write_text(Template((_TEMPLATES / f"{template}.template").read_text()).substitute(names))
    except FileExistsError:
        print(
            f"coinslot-ops: {folder} exists. Add the endpoint to the package in it, or choose another prefix",
            file=sys.stderr,
        )
        return 2
    except OSError as error:
        print(f"coinslot-ops: {folder} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    print(f"written to {folder}. Next, in the .venv of a checkout:")
    print(f"  pip install --no-deps --no-build-isolation -e {folder}")
    print(f"  python -m pytest {folder}")
    print(f"  coinslot-ops doctor   # then start Coinslot again: it sells {prefix}/{name}")
    return 0


def _refusal(prefix: str, name: str) -> str:
    for word in (prefix, name):
        if not _WORDS.fullmatch(word) or keyword.iskeyword(word):
            return f"{word!r} is no name: lower-case words joined by '-', the first of them with a letter first"
    if prefix in (OWN, *FOLDERS):
        return f"the prefix {prefix!r} is Coinslot's own. Choose another"
    return ""
