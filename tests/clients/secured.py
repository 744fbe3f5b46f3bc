"""TLS in front of a sandbox node, for a client that talks to no node without it."""

import contextlib
import ipaddress
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
from cryptography import x509

from compose.sandbox.upstreams.authority import Authority


@contextlib.contextmanager
def secured(rpc_url: str, folder: Path) -> Iterator[dict[str, str]]:
    """As variables for Node: an https URL that answers as `rpc_url` does, and whose certificates to trust for it."""

    class Passing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            call = self.rfile.read(int(self.headers["Content-Length"]))
            answer = httpx.post(
                rpc_url, content=call, headers={"Content-Type": self.headers["Content-Type"]}, trust_env=False
            )
            self.send_response(answer.status_code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            """The test reports what went wrong."""

    authority = Authority()
    identity = authority.identity(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    with ThreadingHTTPServer(("127.0.0.1", 0), Passing) as server:
        server.socket = identity.server_context().wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield {
                "RPC_URL": f"https://127.0.0.1:{server.server_port}",
                "NODE_EXTRA_CA_CERTS": str(authority.write_root(folder / "authority.pem")),
            }
        finally:
            server.shutdown()
            thread.join()
