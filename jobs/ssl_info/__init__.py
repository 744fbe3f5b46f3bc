"""Reads a server's certificate chain and judges the certificate's form, its names and its trust."""
