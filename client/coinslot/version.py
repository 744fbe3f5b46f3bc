"""The installed version."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """The version of the distribution; empty when the package is not installed."""
    for distribution in ("coinslot-client", "coinslot"):  # the buyer alone; the checkout of the service
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return ""
