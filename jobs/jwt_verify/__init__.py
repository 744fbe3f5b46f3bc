"""What jwt-verify judges: the token's form, the key, the signature and the claims, each by itself."""
