"""Checks whether a webhook was signed with its secret. `judge` is the whole interface.

A function per sender reads the claim of its signature (senders.py, cdp.py). Only `verdict` computes and compares. These
rules hold for all senders:

- The signed payload is the UTF-8 form of exactly the text that was sent: nothing is trimmed, parsed or normalised.
- The secret is the UTF-8 form of its text, including Stripe's `whsec_`. Nothing is decoded. So Standard Webhooks, where
  the part after `whsec_` is base64 of the key, is another scheme and not supported.
- Hex may be in upper or lower case. A digest of another length or notation is malformed, and is never compared.
- Spaces and tabs around the signature, and around its comma-separated parts, are ignored. Other white space is not.
- A time is 1 to 19 ASCII digits below 2**63. It is signed as written, so it is never rewritten.
- The time is judged only when the signature is right. Otherwise anybody could have written it.
"""

from jobs.webhook_sig_verify.claim import Algorithm, Delivery, Reason, Scheme
from jobs.webhook_sig_verify.verdict import PROVIDERS, TIMED, Verdict, judge

__all__ = ["PROVIDERS", "TIMED", "Algorithm", "Delivery", "Reason", "Scheme", "Verdict", "judge"]
