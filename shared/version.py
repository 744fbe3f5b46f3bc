"""The version of all commands and processes. It is named here alone: the distributions take it from this file."""

VERSION = "0.2.0"
