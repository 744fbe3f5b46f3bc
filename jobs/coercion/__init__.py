"""Changes the types of values until they fit a JSON Schema, where that loses nothing. The rules: `solve`, `lossless`."""

from jobs.coercion.document import Document
from jobs.coercion.lossless import type_of
from jobs.coercion.solve import MAX_LEVELS, Change, Solution, solve

__all__ = ["MAX_LEVELS", "Change", "Document", "Solution", "solve", "type_of"]
