"""The sandbox's keys: random, made once per machine, in files that only this user can read."""

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec


def load_keys(var: Path, name: str, make: Callable[[], Mapping[str, str]]) -> dict[str, str]:
    """This machine's keys of one network, from ``sandbox/<name>.json`` in `var`.

    Args:
        make: returns new keys. It is called the first time.
    """
    path = var.resolve() / "sandbox" / f"{name}.json"
    if not path.exists():
        _create(path, make())
    path.chmod(0o600)
    return msgspec.json.decode(path.read_bytes(), type=dict[str, str])


def _create(path: Path, keys: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # The file is complete and private before it gets its name. Of two starts at once the first one wins.
    draft = path.with_name(f"{path.stem}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(keys)) + b"\n")
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
