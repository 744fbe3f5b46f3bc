"""Makes jobs/whois/rdap_bootstrap.json from IANA's bootstrap file, and counts the top-level domains that can be answered."""
