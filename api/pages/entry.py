"""An endpoint as its page and the catalogue show it."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from api.pages import fields, terms
from api.pages.fields import Field
from api.pages.snippets import Snippet, check, snippets
from api.pages.terms import Terms
from api.payment.gate import PaymentGate
from jobs import schemas
from jobs.reasons import REASONS
from shared.endpoint import Endpoint
from shared.pools import POOLS


@dataclass(frozen=True, eq=False)
class Entry:
    """One listed endpoint. What depends on the offers is read anew with each use."""

    gate: PaymentGate
    base_url: str

    @property
    def endpoint(self) -> Endpoint:
        """The declaration."""
        return self.gate.endpoint

    @property
    def url(self) -> str:
        """The absolute address of the call."""
        return self.gate.listing.url

    @property
    def path(self) -> str:
        """The page's path: ``/bazaar/echo``."""
        return f"/bazaar/{self.endpoint.name}"

    @property
    def price(self) -> str:
        """The price in dollars: ``0.001``."""
        return self.endpoint.price.text()

    @property
    def latency(self) -> str:
        """How long the call itself usually takes, in words."""
        return POOLS[self.endpoint.pool].latency

    @property
    def terms(self) -> tuple[Terms, ...]:
        """The offers of a challenge made now."""
        return terms.read(self.gate)

    @property
    def badges(self) -> tuple[str, ...]:
        """``USDC on Base`` and so on, each once."""
        return tuple(dict.fromkeys(one.badge for one in self.terms))

    @property
    def snippets(self) -> tuple[Snippet, ...]:
        """Programs that buy it."""
        return snippets(self.gate.listing, self.terms, self.base_url)

    @property
    def check_snippet(self) -> str:
        """A command that checks a body and pays nothing."""
        return check(self.base_url + self.path, self.endpoint.example.request)

    @cached_property
    def request(self) -> tuple[str, tuple[Field, ...]]:
        """The description of the request body as a whole, and its fields."""
        return fields.read(schemas.of(self.endpoint.request))

    @cached_property
    def response(self) -> tuple[str, tuple[Field, ...]]:
        """The description of the answer as a whole, and its fields."""
        return fields.read(schemas.of(self.endpoint.response))

    @property
    def example_request(self) -> str:
        """JSON on several lines."""
        return _pretty(self.endpoint.example.request)

    @property
    def example_response(self) -> str:
        """JSON on several lines."""
        return _pretty(self.endpoint.example.response)

    @property
    def compact_request(self) -> str:
        """JSON on one line."""
        return json.dumps(self.endpoint.example.request, ensure_ascii=False)

    @property
    def compact_response(self) -> str:
        """JSON on one line."""
        return json.dumps(self.endpoint.example.response, ensure_ascii=False)

    @property
    def reasons(self) -> tuple[tuple[str, str], ...]:
        """The documented reasons of a 502, each with its sentence."""
        texts = {**REASONS, **self.endpoint.failure_texts}
        return tuple((reason, texts[reason]) for reason in self.endpoint.failures)

    def matches(self, words: list[str], category: str) -> bool:
        """Whether it is in the category, if there is one, and has every word in its name, category or summary."""
        endpoint = self.endpoint
        if category and category != endpoint.category.value:
            return False
        return all(word in self.searched for word in words)

    @cached_property
    def searched(self) -> str:
        """What a search looks at, in lower case."""
        endpoint = self.endpoint
        return f"{endpoint.name} {endpoint.category.value} {endpoint.summary}".lower()


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
