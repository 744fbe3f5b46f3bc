"""What schemathesis does in these tests: it stays on this machine, pays where a payment is given, and counts the answers.

SCHEMATHESIS_PAYMENTS names a file with the payment header of each path, SCHEMATHESIS_COUNTS where to count the answers.
"""

import json
import os
from collections import Counter
from pathlib import Path
from threading import Lock

import loopback
import schemathesis

PAYMENTS = json.loads(Path(os.environ["SCHEMATHESIS_PAYMENTS"]).read_text())
COUNTS = Path(os.environ["SCHEMATHESIS_COUNTS"])
counted: Counter[tuple[str, int]] = Counter()
one_at_a_time = Lock()


@schemathesis.hook
def before_call(ctx, case, kwargs):  # type: ignore[no-untyped-def]  # as schemathesis calls it
    """The payment travels beside whatever was made up."""
    if payment := PAYMENTS.get(case.operation.path):
        case.headers["PAYMENT-SIGNATURE"] = payment


@schemathesis.hook
def after_call(ctx, case, response):  # type: ignore[no-untyped-def]
    """Counts, because a run in which nothing arrived finds nothing either. Other methods than the documented do not count."""
    if response.request.method == case.operation.method.upper():
        with one_at_a_time:
            counted[case.operation.path, response.status_code] += 1
            rows = [[path, status, times] for (path, status), times in counted.items()]
            COUNTS.write_text(json.dumps({"answers": rows, "elsewhere": loopback.elsewhere}))
