"""Times calls in the checkout that it is started in, which may be an older one: it uses only what each version has.

Reads lines of JSON, [endpoint, request], and writes a line for each: microseconds of CPU time for one call, from the body's
bytes to the answer's, as a worker handles it.
"""

import importlib
import json
import sys
import time
from pathlib import Path

import jobs
from jobs.ports import Context
from workers.execute import execute

BATCH_S = 0.02


def main() -> None:
    """Serve until the input ends. Raises RuntimeError when a call fails, or the code is another checkout's."""
    if Path(str(jobs.__file__)).parents[1] != Path.cwd():
        raise RuntimeError(f"{jobs.__file__} is not in {Path.cwd()}")
    for line in sys.stdin:
        name, request = json.loads(line)
        print(_microseconds(name, json.dumps(request).encode()), flush=True)


def _microseconds(name: str, body: bytes) -> float:
    endpoint = importlib.import_module(f"jobs.{name.replace('-', '_')}.endpoint").ENDPOINT
    context = Context(payer="0x0")
    outcome = execute(endpoint, body, context)
    if type(outcome).__name__ != "Ok":
        raise RuntimeError(f"{name}: {outcome}")
    calls, spent = 1, 0.0
    while spent < BATCH_S:
        calls = calls if spent == 0 else max(calls + 1, int(calls * 1.1 * BATCH_S / spent))
        started = time.process_time()
        for _ in range(calls):
            execute(endpoint, body, context)
        spent = time.process_time() - started
    return spent / calls * 1e6


if __name__ == "__main__":
    main()
