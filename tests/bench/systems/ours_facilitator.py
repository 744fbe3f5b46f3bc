"""Our facilitator as it is: `python -m facilitator`."""

import os

from tests.bench.roles import become, play, port


def serve() -> None:
    """One process, as everywhere."""
    os.environ["COINSLOT_FACILITATOR_PORT"] = str(port())
    become("-m", "facilitator")


if __name__ == "__main__":
    play({"api": serve})
