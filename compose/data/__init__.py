"""Generates the data files of jobs/engines/evm/data: known addresses, canonical tokens, signatures. Run by scripts/data."""
