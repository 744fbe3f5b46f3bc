"""What is left until a deadline, for the next operation of a socket."""

import time


def left_s(deadline: float) -> float:
    """Seconds until a deadline, which is in monotonic seconds. Raises TimeoutError when it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
