"""faker.database."""

from jobs.faker.source import signs

mongodb_object_id = signs("0123456789abcdef", 24, "Twenty-four hex digits.")
