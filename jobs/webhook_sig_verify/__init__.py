"""Whether a webhook was signed by who holds its secret. `judge` is the whole interface.

One module per sender reads what its signature claims (`claim`); `verdict` alone computes and compares. The rules that hold
for all of them:

- The payload is signed as the UTF-8 bytes of exactly the text that was sent: nothing is trimmed, parsed or normalised.
- The secret is the UTF-8 bytes of its text, as every one of these senders uses it. Stripe's `whsec_` belongs to it. Nothing
  is decoded, so Standard Webhooks, where the rest of `whsec_` is base64 of the key, is another scheme and not one of these.
- Hex may be upper or lower case. A digest of another length, or in another writing, is malformed: it is never compared.
- Spaces and tabs around the signature, and around its comma-separated parts, do not count; any other whitespace does.
- A time is 1 to 19 ASCII digits below 2**63. It is signed as it is written, so it is never rewritten.
- The time is judged only where the signature is right, because before that anybody could have written it.
"""

from jobs.webhook_sig_verify.claim import Algorithm, Delivery, Reason, Scheme
from jobs.webhook_sig_verify.verdict import PROVIDERS, TIMED, Verdict, judge

__all__ = ["PROVIDERS", "TIMED", "Algorithm", "Delivery", "Reason", "Scheme", "Verdict", "judge"]
