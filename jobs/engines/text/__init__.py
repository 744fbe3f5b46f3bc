"""What endpoints that search texts share: regular expressions in linear time, and rewritten texts with their origins."""
