"""The keys of RQ 2.12 that rq-dashboard 0.9 shows, as RQ itself writes them (rq/job.py, rq/registry.py, rq/results.py,
rq/worker/base.py). Every text that goes into one is plain text."""

import base64
import pickle
import re
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import redis

from shared.queue.mirror import Run

Pipeline = redis.client.Pipeline
Registry = Literal["finished", "failed"]
Fields = dict[Any, Any]
"""Of a hash, as redis-py takes them: texts, bytes and numbers by name."""

QUEUES = "rq:queues"
WORKERS = "rq:workers"
LIVE_TTL_S = 30
"""Of a job that waits or runs, and of a worker. They are written again as long as they are seen."""
ENDED_TTL_S: Mapping[Registry, int] = {"finished": 24 * 3600, "failed": 7 * 24 * 3600}
MOST_ENDED = 500
"""Jobs in each registry of each queue. Older ones are removed."""
_FAILED = 2
"""Result.Type.FAILED"""

MOST_CHARS = 200
_OTHER = re.compile(r"[^A-Za-z0-9 ._:/@=,+…-]")
_NOT_OF_ID = re.compile(r"[^A-Za-z0-9_-]")
MOST_ID_CHARS = 64


def queue_key(queue: str) -> str:
    """The list of a queue's waiting jobs."""
    return f"rq:queue:{queue}"


def started_key(queue: str) -> str:
    """The registry of a queue's running jobs."""
    return f"rq:wip:{queue}"


def registry_key(registry: Registry, queue: str) -> str:
    """The registry of jobs that have ended, scored by their expiry."""
    return f"rq:{registry}:{queue}"


def job_key(job_id: str) -> str:
    """The hash of a job."""
    return f"rq:job:{job_id}"


def result_key(job_id: str) -> str:
    """The stream of a job's results, where a failure's text is read from."""
    return f"rq:results:{job_id}"


def worker_key(worker: str) -> str:
    """The hash of a worker."""
    return f"rq:worker:{worker}"


def write_seen(write: Pipeline, job_id: str, queue: str, status: str, endpoint: str, enqueued: float) -> None:
    """A job that is in the queue: nothing else is known of it."""
    _write_job(write, job_id, queue, status, endpoint, {"enqueued_at": moment(enqueued)}, enqueued)
    write.hsetnx(job_key(job_id), "description", endpoint)
    write.expire(job_key(job_id), LIVE_TTL_S)


def write_started(write: Pipeline, run: Run, worker: str) -> None:
    """A job that a worker says it runs."""
    job_id = plain_id(run.job_id)
    _write_job(write, job_id, plain(run.queue), "started", plain(run.endpoint), _details(run, worker), run.started)
    write.expire(job_key(job_id), LIVE_TTL_S)


def write_ended(write: Pipeline, run: Run, worker: str) -> Registry:
    """A job that has ended. Returns the registry that it is in now."""
    registry: Registry = "failed" if run.code else "finished"
    job_id, queue, ttl_s = plain_id(run.job_id), plain(run.queue), ENDED_TTL_S[registry]
    details = {**_details(run, worker), "ended_at": moment(run.ended)}
    _write_job(write, job_id, queue, registry, plain(run.endpoint), details, run.started or run.ended)
    write.expire(job_key(job_id), ttl_s)
    write.zadd(registry_key(registry, queue), {job_id: run.ended + ttl_s})
    # A job that was run twice is in the registry of its last end.
    write.zrem(registry_key("finished" if registry == "failed" else "failed", queue), job_id)
    write.delete(result_key(job_id))
    if run.code:
        text = base64.b64encode(zlib.compress(_failure(run, worker).encode()))
        write.xadd(result_key(job_id), {"type": _FAILED, "worker_name": plain(worker), "exc_string": text})
        write.expire(result_key(job_id), ttl_s)
    return registry


def write_worker(
    write: Pipeline, worker: str, *, queues: Sequence[str], more: Mapping[str, str | int], job: Run | None
) -> None:
    """A living worker and the job that it runs. RQ's workers run one each: a worker of ours has a line per running job.

    Args:
        more: further fields, as RQ names them.
    """
    key = worker_key(worker)
    fields: Fields = {"queues": ",".join(queues), "state": "busy" if job else "idle", **more}
    if job is None:
        write.hdel(key, "current_job")  # an empty one would be looked up
    else:
        fields["current_job"] = plain_id(job.job_id)
    write.hset(key, mapping=fields)
    write.expire(key, LIVE_TTL_S)
    write.sadd(WORKERS, key)


def _write_job(
    write: Pipeline,
    job_id: str,
    queue: str,
    status: str,
    endpoint: str,
    details: Fields,
    created: float,
) -> None:
    # rq-dashboard unpickles the call: it is the endpoint's name, and no argument.
    data = zlib.compress(pickle.dumps((endpoint, None, (), {})))
    write.hset(job_key(job_id), mapping={"origin": queue, "status": status, "data": data, **details})
    write.hsetnx(job_key(job_id), "created_at", moment(created))


def _details(run: Run, worker: str) -> Fields:
    """What leads to the call."""
    meta = {"request": run.request_id, "payment": run.payment_id, "payer": run.payer, "cause": run.cause}
    meta = {name: plain(value) for name, value in meta.items() if value}
    # Of one that has failed, the text of the failure has the rest.
    named = ("cause",) if run.code else ("request", "payment")
    description = " ".join([plain(run.endpoint), *(f"{name}={meta[name]}" for name in named if name in meta)])
    fields: Fields = {
        "description": description,
        "worker_name": plain(worker),
        "meta": pickle.dumps({**meta, "worker": plain(worker)}),
    }
    return {**fields, "started_at": moment(run.started)} if run.started else fields


def _failure(run: Run, worker: str) -> str:
    """In the words of the API's log line."""
    lines = {
        "cause": run.cause,
        "code": run.code,
        "endpoint": run.endpoint,
        "request": run.request_id,
        "payment": run.payment_id,
        "job": run.job_id,
        "worker": worker,
    }
    return "\n".join(f"{name}={plain(value)}" for name, value in lines.items() if value)


def moment(seconds: float) -> str:
    """Unix seconds, as RQ writes a time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def plain(text: str) -> str:
    """The text without characters that mean something in HTML, attributes, scripts or templates: each becomes ``_``."""
    return _OTHER.sub("_", text[:MOST_CHARS])


def plain_id(text: str) -> str:
    """The same for what becomes part of a key or of an address. Ids of our jobs are unchanged."""
    return _NOT_OF_ID.sub("_", text[:MOST_ID_CHARS]) or "_"
