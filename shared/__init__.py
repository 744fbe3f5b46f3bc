import gc
import sys

# With Python's default of 700 objects, a tenth of the time that a process takes to start is the collector's, for nothing.
gc.set_threshold(50_000, 20, 20)

# redis-py imports OpenTelemetry's metrics wherever they are installed: 0.1 s of CPU time and 5 MB in each process. Ours count
# with prometheus_client (metrics.py), and only traces leave by OpenTelemetry (tracing.py). Packages whose modules import redis
# import this one first.
sys.modules.setdefault("opentelemetry.sdk.metrics", None)  # type: ignore[arg-type]  # None: an import of it fails
