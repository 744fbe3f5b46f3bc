import sys

# redis-py imports OpenTelemetry's metrics wherever they are installed: 0.1 s of CPU time and 5 MB in each process. Ours count
# with prometheus_client (metrics.py), and only traces leave by OpenTelemetry (tracing.py). Packages whose modules import redis
# import this one first.
sys.modules.setdefault("opentelemetry.sdk.metrics", None)  # type: ignore[arg-type]  # None: an import of it fails
