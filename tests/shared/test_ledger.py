"""The buckets of the ledger's keys."""

from __future__ import annotations

import pytest
from redis.crc import key_slot

from shared.ledger.keys import (
    BUCKETS,
    JOURNAL,
    WITH_TOKENS,
    answer_key,
    bucket_in,
    bucket_of,
    bucket_of_payer,
    payment_keys,
    record_key,
)
from shared.ledger.servers import SLOT
from shared.x402.verifiers import VERIFIERS


@pytest.mark.parametrize(
    ("payment_id", "network", "payer"),
    [
        ("eip155:8453:0x833:0xa11ce:0x01", "eip155:8453", "0xa11ce"),
        ("stellar:pubnet:CCW67:GALICE:7", "stellar:pubnet", "GALICE"),
        ("solana:5eykt4:EPjF:A11ce:00ff", "solana:5eykt4", "A11ce"),
        ("xrpl:0:rAlice:95000000:00FF", "xrpl:0", "rAlice"),
    ],
)
def test_a_payment_is_in_the_bucket_of_its_payer(payment_id: str, network: str, payer: str) -> None:
    """With all its keys, which name the bucket as a hash tag; whatever it pays for, and with whatever nonce."""
    bucket = bucket_of_payer(network, payer)
    assert {bucket_of(payment_id), bucket_of(payment_id + "0")} == {bucket}
    keys = payment_keys(payment_id)
    assert (keys["record"], keys["answer"]) == (record_key(payment_id), answer_key(payment_id))
    assert {bucket_in(key) for key in keys.values()} == {bucket}
    assert {key.partition("{")[2].partition("}")[0] for key in keys.values()} == {f"{bucket:02x}"}


def test_networks_with_tokens_share_a_bucket_that_no_others_have() -> None:
    """A token pays once, whoever pays on whichever of them: one script has to see it. A new network with tokens fails here."""
    assert {namespace for (_, namespace), verifier in VERIFIERS.items() if verifier.TOKEN_KEY} == WITH_TOKENS
    assert {bucket_of_payer(namespace, str(n)) for namespace in WITH_TOKENS for n in range(99)} == {0}
    others = {bucket_of_payer("eip155:1", str(n)) for n in range(9_999)}
    assert others == set(range(1, BUCKETS))


def test_each_bucket_has_a_slot_of_its_own() -> None:
    """As Redis Cluster counts slots: a bucket moves from node to node alone."""
    assert tuple(key_slot(key.encode()) for key in JOURNAL) == SLOT
    assert len(set(SLOT)) == BUCKETS
