"""The product as it is: `python -m api` and the Procfile's micro worker."""

from tests.bench.roles import become, play


def worker() -> None:
    """The pool that echo is in."""
    options = ("--queues", "micro", "--processes", "1", "--threads", "1")
    become("-m", "dramatiq", "workers.main:create_broker", *options)


if __name__ == "__main__":
    play({"worker": worker, "api": lambda: become("-m", "api")})
