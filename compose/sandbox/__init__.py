"""The embedded default of `scripts/run` and of the tests: real servers on this machine instead of outside services.

What a caller needs: ``start_redis`` (redis_server), ``start_chain`` and ``provision`` (evm). Each returns an object whose
``stop()`` ends its own process and waits for it. Nothing here is meant to face a network: everything listens on 127.0.0.1.
"""
