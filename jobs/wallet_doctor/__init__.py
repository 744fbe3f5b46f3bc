"""Whether a wallet is ready to pay."""
