"""Generates the data files of jobs/evm/data: known addresses, canonical tokens, signatures. Run by scripts/data."""
