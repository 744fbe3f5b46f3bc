"""Makes the calls that it reads with the client that openapi-python-client made, in the package `generated`; what it parsed."""

import importlib
import json
import pkgutil
import sys
import typing

import generated.api
import loopback
from generated import Client


class ROW(typing.TypedDict):
    path: str
    url: str
    headers: dict[str, str]
    body: dict[str, typing.Any]


class Empty:
    """A body of which only the call's path is wanted."""

    def to_dict(self) -> dict[str, typing.Any]:
        return {}


modules = [importlib.import_module(one.name) for one in pkgutil.walk_packages(generated.api.__path__, "generated.api.")]
operations = {one._get_kwargs(body=Empty())["url"]: one for one in modules if hasattr(one, "sync_detailed")}


def called(row: ROW) -> dict[str, typing.Any]:
    """One answer, as it was sent and as it was parsed. What cannot be parsed raises."""
    operation = operations[row["path"]]
    taken = typing.get_type_hints(operation.sync_detailed)["body"]
    request = next(one for one in (*typing.get_args(taken), taken) if hasattr(one, "from_dict"))
    with Client(base_url=row["url"], headers=row["headers"], timeout=60, verify_ssl=False) as client:
        answer = operation.sync_detailed(client=client, body=request.from_dict(row["body"]))
    assert answer.parsed is not None, answer
    return {
        "path": row["path"],
        "status": answer.status_code,
        "type": type(answer.parsed).__name__,
        "sent": json.loads(answer.content),
        "parsed": answer.parsed.to_dict(),
    }


print("ready", flush=True)  # importing its modules takes seconds, in which a payment may expire
found = [called(row) for row in json.load(sys.stdin)]
print(json.dumps({"answers": found, "elsewhere": loopback.elsewhere}))
