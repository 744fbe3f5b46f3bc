"""Finds the calls that other sites sell over x402, in their challenges, catalogs and pages."""
