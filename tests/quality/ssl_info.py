"""ssl-info: names and chains, judged by libraries of other people: service-identity and cryptography's verifier."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime

import service_identity
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509 import verification
from service_identity import hazmat

from compose.sandbox.upstreams.authority import Authority, Identity
from jobs.ssl_info.hostname import is_for
from jobs.ssl_info.trust import distrust
from tests.jobs import certificates
from tests.quality.scorer import Measure

_HOST = "www.shop.example.com"


def measures(held_out: bool) -> Iterator[Measure]:
    """Longer names, and chains under authorities with limits, are set aside."""
    chance = random.Random(31 if held_out else 30)
    asked = [_names(chance, 6 if held_out else 4) for _ in range(5_000)]
    yield Measure("for a host", len(asked), sum(is_for(host, [name]) is _is_for(host, name) for host, name in asked))
    now, root = datetime.now(UTC).replace(microsecond=0), Authority()
    chains = list(_limited(root) if held_out else _shown(root))
    roots = root.root.public_bytes(serialization.Encoding.PEM)
    agreed = [
        (distrust(certificates.chain(identity), roots, now) is None) is _is_trusted(identity, root, now)
        for identity in chains
    ]
    yield Measure("trusted", len(chains), sum(agreed))


def _names(chance: random.Random, most: int) -> tuple[str, bytes]:
    host = [chance.choice(("a", "b", "www", "x-1")) for _ in range(chance.randint(2, most))]
    name = list(host)
    for _ in range(chance.randint(0, 2)):
        name[chance.randrange(len(name))] = chance.choice(("*", "a", "w*", "*a", "", "B"))
    if chance.random() < 0.2:
        name = name[1:] if chance.random() < 0.5 else ["*", *name]
    return ".".join(host), ".".join(name).encode()


def _is_for(host: str, name: bytes) -> bool:
    try:
        hazmat.verify_service_identity([hazmat.DNSPattern.from_bytes(name)], [hazmat.DNS_ID(host)], [])
    except (service_identity.CertificateError, service_identity.VerificationError):
        return False
    return True


def _shown(root: Authority) -> Iterator[Identity]:
    """Chains of up to three authorities, each shown whole, in another order, with one left out, and with a stranger."""
    stranger = Authority("Stranger")
    above = root
    for depth in range(4):
        identity = above.identity(_HOST)
        for count in range(depth + 1):
            for others in itertools.permutations(identity.chain[1:], count):
                yield identity.showing(*others)
                yield identity.showing(stranger.root, *others)
        above = Authority(f"Authority {depth}", issuer=above)
    yield stranger.identity(_HOST)
    yield stranger.identity(_HOST).showing(stranger.root)
    yield stranger.identity(_HOST).showing(root.root)


def _limited(root: Authority) -> Iterator[Identity]:
    """Under authorities that may issue for some names, or at some depth."""
    for place in ("example.com", "shop.example.com", "www.shop.example.com", "example.org", "hop.example.com", "com"):
        names = [x509.DNSName(place)]
        for constraints in (x509.NameConstraints(names, None), x509.NameConstraints(None, names)):
            limited = Authority("Limited", issuer=root, constraints=constraints)
            yield limited.identity(_HOST)
            yield limited.identity(_HOST, "shop.example.org")
            yield Authority("Below", issuer=limited).identity(_HOST)
    for allowed, depth in itertools.product((0, 1, 2), (1, 2, 3)):
        above = Authority("First", issuer=root, path_length=allowed)
        for number in range(depth - 1):
            above = Authority(f"Below {number}", issuer=above)
        yield above.identity(_HOST)


def _is_trusted(identity: Identity, root: Authority, now: datetime) -> bool:
    builder = verification.PolicyBuilder().store(verification.Store([root.root])).time(now)
    leaf, *others = identity.chain
    try:
        builder.build_server_verifier(x509.DNSName(_HOST)).verify(leaf, others)
    except verification.VerificationError:
        return False
    return True
