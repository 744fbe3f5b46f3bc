"""faker.datatype."""

from __future__ import annotations

from jobs.faker.source import one_of

boolean = one_of("true, false")
