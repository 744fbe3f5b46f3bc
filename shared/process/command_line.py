"""The command line of a process: each command has --help and --version, and says in a sentence which setting is wrong."""

import argparse
import sys
from collections.abc import Callable

from shared.settings.setting import InvalidSetting
from shared.version import VERSION


def command_line(prog: str, description: str) -> argparse.ArgumentParser:
    """A parser, to which a command adds its own options."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--version", action="version", version=f"{prog} {VERSION}")
    return parser


def run(name: str, main: Callable[[], None]) -> None:
    """Run a process. A setting that cannot be used ends it with a sentence."""
    try:
        main()
    except InvalidSetting as error:
        sys.exit(f"{name}: {error}")
