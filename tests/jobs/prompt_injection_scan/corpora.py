"""The texts of attacks.toml and ordinary.toml. They train the statistical layer as well."""

import tomllib
from pathlib import Path

_HERE = Path(__file__).parent
BY_CATEGORY: dict[str, list[str]] = tomllib.loads((_HERE / "attacks.toml").read_text())
BY_KIND: dict[str, list[str]] = tomllib.loads((_HERE / "ordinary.toml").read_text())
