"""The ports of the sandbox's sites, on the loopback address of the sandbox."""

HTTP_PORT = 8080
HTTPS_PORT = 8443
