"""What other sites say about the calls that they sell over x402: read from challenges, catalogs and pages."""
