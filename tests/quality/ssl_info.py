"""ssl-info: names, chains and lint, judged by libraries of other people: service-identity and cryptography's verifier."""

import itertools
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import service_identity
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import verification
from service_identity import hazmat

from compose.sandbox.upstreams.authority import Authority, Identity
from jobs.ssl_info.examination import Question, examine
from jobs.ssl_info.hostname import is_for
from jobs.ssl_info.lint import Lint
from jobs.ssl_info.trust import trust_in
from tests.jobs import certificates
from tests.quality.scorer import Measure

_HOST = "www.shop.example.com"
_KEY = ec.generate_private_key(ec.SECP256R1())
_ROOT = Authority(key=_KEY)


def measures(held_out: bool) -> Iterator[Measure]:
    """Longer names, and chains under authorities with limits, are set aside."""
    chance = random.Random(31 if held_out else 30)
    asked = [_names(chance, 6 if held_out else 4) for _ in range(5_000)]
    yield Measure("for a host", len(asked), sum(is_for(host, [name]) is _is_for(host, name) for host, name in asked))
    now, root = datetime.now(UTC).replace(microsecond=0), Authority()
    chains = list(_limited(root) if held_out else _shown(root))
    roots = root.root.public_bytes(serialization.Encoding.PEM)
    agreed = [
        (trust_in(certificates.chain(identity), roots, now).distrust is None)
        is _is_accepted(certificates.chain(identity), root, now)
        for identity in chains
    ]
    yield Measure("trusted", len(chains), sum(agreed))
    odd = [changed for changed in _changed(held_out) if not _is_accepted(changed, _ROOT, now)]
    yield Measure("lint of what is refused", len(odd), sum(bool(_lint(changed, now)) for changed in odd))
    good = [
        certificates.chain(_ROOT.identity(_HOST, *[f"n{place}.example.org" for place in range(number)]))
        for number in range(20)
    ]
    yield Measure("no lint of what is not", len(good), sum(not _lint(changed, now) for changed in good))


def _changed(held_out: bool) -> Iterator[list[bytes]]:
    """A server's certificate, and an issuer's, with one extension less. Set aside: with one that is critical, or no longer."""
    below = Authority("Below", issuer=_ROOT)
    issued = [certificates.der(below.identity(_HOST))]
    for identity, before in ((_ROOT.identity(_HOST), []), (Identity([below.certificate], _KEY), issued)):
        for known in identity.certificate.extensions:
            change = (not known.critical, known.value.public_bytes()) if held_out else None
            field = certificates.other_extensions(identity, {known.oid.dotted_string: change})
            yield [*before, certificates.altered(identity, _KEY, {certificates.EXTENSIONS: field})]


def _lint(chain: list[bytes], now: datetime) -> Sequence[Lint]:
    roots = _ROOT.root.public_bytes(serialization.Encoding.PEM)
    return examine(Question(host=_HOST, chain=chain, authorities=roots, now_s=int(now.timestamp()))).lint


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


def _is_accepted(chain: Sequence[bytes], root: Authority, now: datetime) -> bool:
    builder = verification.PolicyBuilder().store(verification.Store([root.root])).time(now)
    leaf, *others = map(x509.load_der_x509_certificate, chain)
    try:
        builder.build_server_verifier(x509.DNSName(_HOST)).verify(leaf, others)
    except verification.VerificationError:
        return False
    return True
