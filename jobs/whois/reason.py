"""Why it is not known whether a domain is registered. The API reads this file, and the readers of answers set the reasons."""

from typing import Literal

Reason = Literal["unclear", "reserved", "ending", "refused"]
"""The answer does not say; nobody may register the name; its registration has ended and it is not free yet; the server refuses
to answer."""
