"""Which certificate authorities a buyer trusts."""

from __future__ import annotations

import ssl
from pathlib import Path

import certifi
import pytest

from coinslot.exchange import pool_options

SERVER = "https://shop.example.com"


def test_the_environment_says_which_at_each_buyer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given a buyer with the usual roots, when SSL_CERT_FILE names another file, then the next buyer trusts that alone."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    usual: ssl.SSLContext = pool_options(SERVER)["ssl_context"]
    one = tmp_path / "one.pem"
    one.write_text(
        Path(certifi.where()).read_text().partition("-----END CERTIFICATE-----")[0] + "-----END CERTIFICATE-----\n"
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(one))

    narrow: ssl.SSLContext = pool_options(SERVER)["ssl_context"]

    assert len(narrow.get_ca_certs()) == 1 < len(usual.get_ca_certs())
    assert pool_options(SERVER)["ssl_context"] is narrow
    assert narrow.verify_mode is ssl.CERT_REQUIRED
    assert narrow.check_hostname
