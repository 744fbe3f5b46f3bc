"""The first line of a data file: JSON that says what the rest is, and where it comes from."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def with_header(body: bytes, *, records: int, sources: Sequence[dict[str, str]], **more: Any) -> bytes:
    """The file. `version` is the start of the body's digest: it changes when, and only when, the body does."""
    digest = hashlib.sha256(body).hexdigest()
    header = {
        "format": 1,
        "version": digest[:8],
        "records": records,
        "sha256": digest,
        "sources": list(sources),
        **more,
    }
    return json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode() + b"\n" + body


def npm_source(lock: Path, package: str) -> dict[str, str]:
    """A package with its version, licence and digest, as the lock file has them."""
    entry = json.loads(lock.read_bytes())["packages"][f"node_modules/{package}"]
    return {
        "name": f"npm:{package}",
        "version": entry["version"],
        "licence": entry["license"],
        "digest": entry["integrity"],
    }
