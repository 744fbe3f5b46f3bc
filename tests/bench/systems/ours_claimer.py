"""Our claimer of channels as it is: `python -m facilitator.claimer`."""

from tests.bench.roles import become, play

if __name__ == "__main__":
    play({"claimer": lambda: become("-m", "facilitator.claimer")})
