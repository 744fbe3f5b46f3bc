"""The command line of a process: each command has --help and --version."""

from __future__ import annotations

import argparse

from shared.version import VERSION


def command_line(prog: str, description: str) -> argparse.ArgumentParser:
    """A parser, to which a command adds its own options."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--version", action="version", version=f"{prog} {VERSION}")
    return parser
