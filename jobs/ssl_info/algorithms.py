"""The names and strengths of keys and signatures, by object identifier."""

KEYS = {
    "1.2.840.113549.1.1.1": "RSA",
    "1.2.840.113549.1.1.10": "RSA-PSS",
    "1.2.840.10040.4.1": "DSA",
    "1.2.840.10045.2.1": "EC",
    "1.3.101.112": "Ed25519",
    "1.3.101.113": "Ed448",
    "2.16.840.1.101.3.4.3.17": "ML-DSA-44",
    "2.16.840.1.101.3.4.3.18": "ML-DSA-65",
    "2.16.840.1.101.3.4.3.19": "ML-DSA-87",
}

FIXED_BITS = {"Ed25519": 256, "Ed448": 456}
"""Bits of keys that have only one size, as OpenSSL counts them."""

CURVES = {
    "1.2.840.10045.3.1.1": 192,
    "1.2.840.10045.3.1.7": 256,
    "1.3.132.0.10": 256,
    "1.3.132.0.31": 192,
    "1.3.132.0.32": 224,
    "1.3.132.0.33": 224,
    "1.3.132.0.34": 384,
    "1.3.132.0.35": 521,
    "1.3.36.3.3.2.8.1.1.7": 256,
    "1.3.36.3.3.2.8.1.1.11": 384,
    "1.3.36.3.3.2.8.1.1.13": 512,
}
"""Bits of a curve's field."""

RSA_PSS = "1.2.840.113549.1.1.10"

# As RFC 3279, 5758, 8410 and 9881 write them.
SIGNATURES = {
    "1.2.840.113549.1.1.2": "md2WithRSAEncryption",
    "1.2.840.113549.1.1.4": "md5WithRSAEncryption",
    "1.2.840.113549.1.1.5": "sha1WithRSAEncryption",
    "1.3.14.3.2.29": "sha1WithRSA",
    "1.2.840.113549.1.1.14": "sha224WithRSAEncryption",
    "1.2.840.113549.1.1.11": "sha256WithRSAEncryption",
    "1.2.840.113549.1.1.12": "sha384WithRSAEncryption",
    "1.2.840.113549.1.1.13": "sha512WithRSAEncryption",
    RSA_PSS: "RSASSA-PSS",
    "1.2.840.10040.4.3": "dsa-with-sha1",
    "2.16.840.1.101.3.4.3.1": "dsa-with-sha224",
    "2.16.840.1.101.3.4.3.2": "dsa-with-sha256",
    "1.2.840.10045.4.1": "ecdsa-with-SHA1",
    "1.2.840.10045.4.3.1": "ecdsa-with-SHA224",
    "1.2.840.10045.4.3.2": "ecdsa-with-SHA256",
    "1.2.840.10045.4.3.3": "ecdsa-with-SHA384",
    "1.2.840.10045.4.3.4": "ecdsa-with-SHA512",
    "1.3.101.112": "Ed25519",
    "1.3.101.113": "Ed448",
    "2.16.840.1.101.3.4.3.17": "ML-DSA-44",
    "2.16.840.1.101.3.4.3.18": "ML-DSA-65",
    "2.16.840.1.101.3.4.3.19": "ML-DSA-87",
}

BROKEN_SIGNATURES = frozenset(
    oid for oid, name in SIGNATURES.items() if name.startswith(("md", "sha1With", "dsa-with-sha1", "ecdsa-with-SHA1"))
)
"""Signatures with a digest that is open to collisions: MD2, MD5, SHA-1."""

SOUND_DIGESTS = frozenset(
    {
        *("2.16.840.1.101.3.4.2.1", "2.16.840.1.101.3.4.2.2", "2.16.840.1.101.3.4.2.3", "2.16.840.1.101.3.4.2.4"),
        *("2.16.840.1.101.3.4.2.8", "2.16.840.1.101.3.4.2.9", "2.16.840.1.101.3.4.2.10"),
    }
)
"""SHA-2 and SHA-3, for RSASSA-PSS. Its digest is a parameter, and the default is SHA-1."""

LEAST_BITS = {"RSA": 2048, "RSA-PSS": 2048, "DSA": 2048, "EC": 224}
"""112 bits of security: OpenSSL's level 2, and the minimum for public authorities."""

PUBLIC_CURVES = frozenset({"1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35"})
"""P-256, P-384 and P-521: the curves that public authorities may sign, beside RSA."""

PUBLIC_SIGNATURES = frozenset(
    {f"sha{bits}WithRSAEncryption" for bits in (256, 384, 512)}
    | {f"ecdsa-with-SHA{bits}" for bits in (256, 384, 512)}
    | {SIGNATURES[RSA_PSS]}
)
"""Signatures that public authorities may make."""
