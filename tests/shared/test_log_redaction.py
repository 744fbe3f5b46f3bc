"""Whatever goes wrong with a caller's request, a log does not quote it."""

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import dramatiq
import jsonschema
import msgspec
import pytest

from shared.observability.log_redaction import places, redacted_record
from tests.each import each

CANARY = "canary-7f30b1d2"
ROOT = Path(__file__).parents[2]
MESSAGE: dramatiq.Message[Any] = dramatiq.Message("micro", "echo", (CANARY,), {"sealed": CANARY}, {}, message_id="m-1")


def written(name: str, message: object, *arguments: Any, error: BaseException | None = None) -> str:
    """A line of a log."""
    info = (type(error), error, error.__traceback__) if error else None
    record = redacted_record(name, logging.ERROR, __file__, 1, message, arguments, info)
    return logging.Formatter("%(name)s %(message)s").format(record)


def as_key() -> None:
    {}[CANARY]  # type: ignore[index]


def as_json() -> None:
    json.loads(f"{{{CANARY}")


def as_instance() -> None:
    jsonschema.validate(CANARY, {"type": "object"})


def as_a_cause() -> None:
    try:
        as_key()
    except KeyError as error:
        raise RuntimeError(CANARY) from error


def as_a_context() -> None:
    try:
        as_json()
    except ValueError:
        raise RuntimeError("quiet")  # noqa: B904  # what it is about


def as_utf8() -> None:
    (CANARY.encode() + b"\xff").decode()


def as_a_type() -> None:
    msgspec.json.decode(b'"%b"' % CANARY.encode(), type=int)


@each("fail", [as_key, as_json, as_instance, as_a_cause, as_a_context, as_utf8, as_a_type])
def test_an_exception_is_its_type_and_its_places(fail: Any) -> None:
    """For our loggers and for others, with every cause."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        fail()

    for name in ("api.pipeline", "dramatiq.worker.WorkerThread", "asyncio", "litestar"):
        line = written(name, "failed", error=caught.value)
        assert CANARY not in line
        assert type(caught.value).__qualname__ in line
        assert f"in {fail.__name__}" in line
        assert "test_log_redaction.py" in line
    assert ("builtins.KeyError" in places(caught.value)) is (fail in (as_key, as_a_cause))


def test_what_dramatiq_says_of_a_message() -> None:
    """Its actor and its id: those are in our own lines, too."""
    proxy = dramatiq.broker.MessageProxy(MESSAGE)
    for message in (MESSAGE, proxy):
        line = written(
            "dramatiq.worker.WorkerThread", "Failed to process message %s with unhandled exception.", message
        )
        assert line == "dramatiq.worker.WorkerThread Failed to process message echo m-1 with unhandled exception."
    line = written("workers.actors.echo", "Received args=%r kwargs=%r.", (CANARY,), {"sealed": CANARY})
    assert line == "workers.actors.echo Received args='tuple' kwargs='dict'."


def test_what_libraries_say_of_objects() -> None:
    """Their types; plain values stay, for they are ports, queues and process ids."""
    assert written("dramatiq.x", "%s %r %d", ValueError(CANARY), "queue", 5) == "dramatiq.x ValueError 'queue' 5"
    assert written("dramatiq.x", "%(a)s %(b)d", {"a": [CANARY], "b": 5}) == "dramatiq.x list 5"
    assert written("dramatiq.x", ValueError(CANARY)) == "dramatiq.x ValueError"
    assert written("_granian", f"Application callable raised an exception\nTraceback\n{CANARY}").endswith("exception")
    assert written("_granian", "Listening at: http://127.0.0.1:1") == "_granian Listening at: http://127.0.0.1:1"


def test_what_we_say_is_written() -> None:
    """Our own lines name reasons."""
    assert written("api.pipeline", "ledger: %s", OSError("MISCONF")) == "api.pipeline ledger: MISCONF"
    assert written("api.pipeline", "ledger: %s", CANARY.encode()) == "api.pipeline ledger: bytes"


SCRIPT = f"""
import asyncio, logging, resource, sys, threading
from shared.observability.log_redaction import redact_logs

redact_logs()
redact_logs()
assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
secret = "{CANARY}"[::-1]  # not in the source line

def fail(value=None):
    raise ValueError(secret[::-1])

class Dropped:
    def __del__(self):
        fail()

async def forgotten():
    asyncio.get_running_loop().call_soon(fail, secret[::-1])
    asyncio.ensure_future(asyncio.to_thread(fail))
    await asyncio.sleep(0.1)

thread = threading.Thread(target=fail)
thread.start()
thread.join()
Dropped()
asyncio.run(forgotten())
logging.getLogger("x").error("%d", secret[::-1])
try:
    fail()
except ValueError:
    logging.exception("here")
fail()
"""


def test_nothing_that_ends_a_process_or_a_thread_quotes_either() -> None:
    """Nor a task that nobody awaited, a callback, a destructor, or a record that cannot be formatted."""
    said = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=60)

    assert (said.returncode, said.stdout) == (1, "")
    assert CANARY not in said.stderr
    assert said.stderr.count("builtins.ValueError") == 6
    assert "Task exception was never retrieved" in said.stderr
    assert "Exception in callback fail" in said.stderr


def test_the_script_would_quote(tmp_path: Path) -> None:
    """Without it, all of these quote: the test above looks in the right place."""
    careless = SCRIPT.replace("redact_logs()\n", "").replace(
        "assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)", ""
    )
    said = subprocess.run([sys.executable, "-c", careless], cwd=ROOT, capture_output=True, text=True, timeout=60)

    assert said.stderr.count(CANARY) >= 7
