"""The refunds of payments that FAILED: they were charged, and not answered within a day. `coinslot-ops refunds` makes them.

    FAILED                      in REFUNDABLE. Its record does not expire.
    FAILED with `refund_plan`   an open plan has a transfer for it. The journal has a line PLANNED.
    FAILED with `refunded`      paid back: `refunded` is when that was found, in Unix milliseconds, and `refund_tx` the
                                transaction. It left REFUNDABLE, the journal has a line REFUNDED, and the record is kept
                                for RECORD_TTL_S more.

FAILED is an end: no answer is stored after it (workers/lua/done.lua), so nobody gets an answer and a refund. A refund pays the
`amount` of the record's offer, whatever the transfer moved. The journal has lines REFUNDED of channels, too: they have a
channel's id and not a payment's.
"""

from pathlib import Path

from shared.ledger.keys import JOURNAL, NOTE, REFUNDABLE, bucket_of, of_each_bucket, record_key
from shared.lua_script import NOW, Command, load

RECORD_TTL_S = 30 * 24 * 3600
PAID_BACK = of_each_bucket("paid-back")
"""By bucket: HASH of the transfers that have closed a payment, ``<network>:<transaction>:<number in it>`` to the payment. It is
kept for ever: a transfer that was forgotten could close another payment of the same payer."""

_LUA = Path(__file__).with_name("lua")
_PLANNED = load(_LUA / "refund_planned.lua", NOTE)
_REFUNDED = load(_LUA / "refunded.lua", NOW, NOTE, RECORD_TTL_S=RECORD_TTL_S)


def plan(payment_id: str, plan_id: str, earlier: str) -> Command:
    """The command that puts a payment into a plan. Its answer is 0 when nothing is owed, or another plan came first.

    Args:
        earlier: the plan in the record as the caller has read it, or "".
    """
    keys = {"record": record_key(payment_id), "journal": JOURNAL[bucket_of(payment_id)]}
    return _PLANNED.eval({**keys, "id": payment_id, "plan": plan_id, "earlier": earlier})


def close(payment_id: str, transaction: str, transfer: str) -> Command:
    """The command that closes a payment with a transfer. Its answer is 0 when the payment is not owed any more, or the transfer
    has closed another one.

    Args:
        transfer: a key of PAID_BACK.
    """
    bucket = bucket_of(payment_id)
    keys = {"record": record_key(payment_id), "refundable": REFUNDABLE[bucket], "refunds": PAID_BACK[bucket]}
    values = {"id": payment_id, "transaction": transaction, "transfer": transfer}
    return _REFUNDED.eval({**keys, "journal": JOURNAL[bucket], **values})
