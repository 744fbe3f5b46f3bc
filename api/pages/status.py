"""/status and /status.json: the last report as a page and as a document, each made when it is first asked for."""

from typing import Any

import msgspec

from api.causes import Cause
from api.errors import ERROR_KINDS
from api.pages.renderer import Form, PageRenderer
from api.status.report import Report, StatusReader, document
from jobs.reasons import REASONS

PATH = "/status"
_MEANINGS = {
    **{code: f"{kind.title}." for code, kind in ERROR_KINDS.items()},
    **REASONS,
    **{cause.reason: cause.detail for cause in Cause},
}


class StatusPages:
    """What is made of a report.

    Args:
        renderer: its entries are the endpoints that are shown.
    """

    def __init__(self, renderer: PageRenderer, reader: StatusReader) -> None:
        self._renderer = renderer
        self._reader = reader
        self._report: Report | None = None
        self._document: dict[str, Any] = {}
        self._bodies: dict[Form | None, bytes] = {}

    async def body(self, form: Form | None = None) -> bytes:
        """The page in this form; without one, the document. Raises Problem."""
        report = await self._reader.report()
        if report is not self._report:
            shown = [entry.endpoint for entry in self._renderer.entries]
            self._report, self._document, self._bodies = report, document(report, shown), {}
        if form not in self._bodies:
            self._bodies[form] = self._made(form)
        return self._bodies[form]

    def _made(self, form: Form | None) -> bytes:
        if form is None:
            return msgspec.json.encode(self._document)
        return self._renderer.status(form, path=PATH, status=self._document, meanings=_MEANINGS)
