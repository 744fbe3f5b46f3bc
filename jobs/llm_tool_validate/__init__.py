"""Changes the types of values until they fit a JSON Schema, where nothing is lost. The rules: `solve`, `lossless`."""

from jobs.llm_tool_validate.document import Document
from jobs.llm_tool_validate.lossless import type_of
from jobs.llm_tool_validate.solve import MAX_LEVELS, Change, Solution, solve

__all__ = ["MAX_LEVELS", "Change", "Document", "Solution", "solve", "type_of"]
