"""Our queue with the job run in the thread that reads the queue, as the micro pool does."""

from tests.bench.caller import serve_calls
from tests.bench.roles import become, play
from tests.bench.systems.ours_threads import connect, new_broker
from workers.queue.broker import StreamBroker

MODULE = "tests.bench.systems.ours_inline"


def create_broker() -> StreamBroker:
    """For the command line."""
    return new_broker(inline=True)


def worker() -> None:
    """One worker process."""
    become("-m", "dramatiq", f"{MODULE}:create_broker", "--processes", "1", "--threads", "1")


if __name__ == "__main__":
    play({"worker": worker, "call": lambda: serve_calls(connect)})
