"""The pages, rendered when they are first asked for, and again only after the offers on them have changed.

Rendering one takes 2 to 5 ms. A search is put together for each request, in a tenth of that.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from litestar.plugins.jinja import JinjaTemplateEngine
from markupsafe import Markup, escape

from api.discovery.listing import CATEGORIES, SERVICE_NAME
from api.errors import Problem
from api.pages import check, errors
from api.pages.assets import SCRIPT, STYLE_PATH
from api.pages.entry import Entry
from api.pages.errors import STATUSES
from api.payment.gate import PaymentGate
from api.stored import Stored

Form = Literal["html", "md"]
FORMS: tuple[Form, ...] = ("html", "md")

WINDOWS = (("1h", "Last hour"), ("24h", "24 hours"), ("30d", "30 days"))
"""Of /status, and how people call them."""

MAX_QUERY = 100
"""Characters of a search that are looked at."""

T = TypeVar("T")


class Section(NamedTuple):
    """The endpoints of one category."""

    name: str
    text: str
    entries: tuple[Entry, ...]


class Row(NamedTuple):
    """One endpoint in the catalogue. `text` is its fragment of the page, or its line in Markdown."""

    entry: Entry
    text: str
    is_shown: bool


class Cached(Generic[T]):
    """What `make` gives, until the offers of one of the gates change.

    Args:
        gates: whose offers the value shows.
    """

    def __init__(self, make: Callable[[], T], gates: Sequence[PaymentGate]) -> None:
        self._make = make
        self._gates = gates
        self._made: tuple[T, list[object]] | None = None

    def get(self) -> T:
        """The value as it is now."""
        offered: list[object] = [gate.offered for gate in self._gates]
        # A gate gives the same object until its offers change.
        if self._made is None or any(one is not other for one, other in zip(offered, self._made[1], strict=True)):
            self._made = self._make(), offered
        return self._made[0]


class PageRenderer:
    """All pages of one installation.

    Args:
        gates: of everything that is sold; what is not listed is on no page.
        base_url: public address of the API, without a trailing slash.
    """

    def __init__(self, gates: Sequence[PaymentGate], base_url: str) -> None:
        self.base_url = base_url
        self._entries = tuple(Entry(gate, base_url) for gate in gates if gate.endpoint.listed)
        self._engine = _engine(root=urlsplit(base_url).path.rstrip("/"), base_url=base_url)
        gates_shown = [entry.gate for entry in self._entries]
        self._texts = {form: Cached(partial(self._row_texts, form), gates_shown) for form in FORMS}
        self._pages: dict[tuple[str, Form], Cached[Stored]] = {}
        for form in FORMS:
            self._pages["/", form] = Cached(_stored(self._home, form), gates_shown)
            self._pages["/bazaar", form] = Cached(_stored(self._bazaar, form), gates_shown)
            for entry in self._entries:
                self._pages[entry.path, form] = Cached(_stored(self._entry, form, entry), [entry.gate])
        self.not_found = self._render("not_found", "html", path="/404")
        self._errors: dict[tuple[str, Form], Stored] = {}
        self._refusals: dict[str, bytes] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is sold now."""
        return tuple(entry for entry in self._entries if entry.gate.is_sold)

    @property
    def by_path(self) -> dict[str, Entry]:
        """The same by the path of its page."""
        return {entry.path: entry for entry in self.entries}

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all pages."""
        return ("/", "/bazaar", *self.by_path)

    def page(self, path: str, form: Form = "html") -> Stored:
        """One of `paths`, as it is now."""
        return self._pages[path, form].get()

    def error(self, code: str, form: Form = "html") -> Stored:
        """The page that explains an error code; for an empty code the list of all codes."""
        if (code, form) not in self._errors:
            content: dict[str, Any] = errors.documents(self.base_url)
            if code:
                content = {"error": errors.document(code, self.base_url)}
            path = f"{errors.PATH}/{code}".rstrip("/")
            page = self._render("error" if code else "errors", form, path=path, **content)
            self._errors[code, form] = Stored(page)
        return self._errors[code, form]

    def checked(self, checked: check.Check, form: Form = "html") -> bytes:
        """The page that reports the result of a check."""
        entry = checked.entry
        return self._render("check", form, path=entry.path, entry=entry, endpoint=entry.endpoint, check=checked)

    def refused(self, problem: Problem) -> bytes:
        """Why no body was checked, made once for each code: who sends too much costs nothing more."""
        if problem.code not in self._refusals:
            self._refusals[problem.code] = self._render("refused", "html", path="/404", problem=problem)
        return self._refusals[problem.code]

    def status(self, form: Form, **context: Any) -> bytes:
        """The page that shows how calls ended (api/pages/status.py). It is rendered anew each time."""
        return self._render("status", form, windows=WINDOWS, **context)

    def found(self, query: str, category: str, form: Form = "html") -> Stored | bytes:
        """The catalogue with what a search finds.

        Args:
            query: words, of which each must appear.
            category: empty, or anything that is none, for all.
        """
        query = " ".join(query[:MAX_QUERY].split())
        category = category if category in {section.name for section in _sections(self.entries)} else ""
        return self._bazaar(form, query, category) if query or category else self.page("/bazaar", form)

    def _home(self, form: Form) -> bytes:
        badges = tuple(dict.fromkeys(badge for entry in self.entries for badge in entry.badges))
        return self._render(
            "home", form, path="/", sections=_sections(self.entries), count=len(self.entries), badges=badges
        )

    def _bazaar(self, form: Form, query: str = "", category: str = "") -> bytes:
        words = query.lower().split()
        texts = self._texts[form].get()
        rows = {entry: Row(entry, text, entry.matches(words, category)) for entry, text in texts.items()}
        chips = [("", "All"), *((one.name, one.name.capitalize()) for one in _sections(self.entries))]
        return self._render(
            "bazaar",
            form,
            path="/bazaar",
            # What does not match is hidden on the page, for the script to show.
            sections=[(one, [rows[entry] for entry in one.entries]) for one in _sections(self.entries)],
            count=sum(row.is_shown for row in rows.values()),
            total=len(self.entries),
            query=query,
            category=category,
            chips=[(name, label, _address(query, name)) for name, label in chips],
        )

    def _row_texts(self, form: Form) -> dict[Entry, str]:
        # Rendered beforehand, because a search is rendered for each request.
        rendered = {entry: self._render("row", form, path="", entry=entry).decode() for entry in self.entries}
        return {entry: Markup(text) if form == "html" else text for entry, text in rendered.items()}  # noqa: S704  # escaped

    def _entry(self, form: Form, entry: Entry) -> bytes:
        return self._render("endpoint", form, path=entry.path, entry=entry, endpoint=entry.endpoint, statuses=STATUSES)

    def _render(self, name: str, form: Form, **context: Any) -> bytes:
        return self._engine.get_template(f"{name}.{form}").render(context).encode()


@cache
def _engine(*, root: str, base_url: str) -> JinjaTemplateEngine:
    """Litestar's Jinja engine. HTML is escaped; a name that a template does not get is an error. Compiling takes 0.1 s."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["code"] = _code
    environment.filters["cell"] = _cell
    environment.filters["percent"] = _percent
    environment.filters["duration"] = _duration
    environment.filters["moment"] = _moment
    environment.globals.update(
        checked_bytes=check.MOST_BYTES,
        root=root,
        base_url=base_url,
        service=SERVICE_NAME,
        style=root + STYLE_PATH,
        script=Markup(SCRIPT),  # noqa: S704  # our own file
    )
    for name in environment.list_templates():  # compiled now and not in the way of the first callers
        environment.get_template(name)
    return JinjaTemplateEngine.from_environment(environment)


def _stored(render: Callable[..., bytes], *arguments: Any) -> Callable[[], Stored]:
    return lambda: Stored(render(*arguments))


def _sections(entries: Iterable[Entry]) -> tuple[Section, ...]:
    """The entries by category, without empty categories."""
    known = tuple(entries)
    sections = (
        Section(category.value, text, tuple(entry for entry in known if entry.endpoint.category is category))
        for category, text in CATEGORIES.items()
    )
    return tuple(section for section in sections if section.entries)


def _address(query: str, category: str) -> str:
    """A search as an address below /bazaar."""
    chosen = {name: value for name, value in (("q", query), ("category", category)) if value}
    return f"?{urlencode(chosen)}" if chosen else ""


def _code(text: str) -> Markup:
    """Text as HTML, with what stands in backticks as code."""
    parts = text.replace("``", "`").split("`")
    if len(parts) % 2 == 0:  # one backtick has no other
        return escape(text)
    marked = (f"<code>{escape(part)}</code>" if number % 2 else escape(part) for number, part in enumerate(parts))
    return Markup("".join(marked))  # noqa: S704  # every part is escaped


def _cell(text: str) -> str:
    """Text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def _percent(share: float | None) -> str:
    return "no calls" if share is None else f"{share * 100:.4g} %"


def _duration(seconds: int) -> str:
    """In the two largest units."""
    parts = ((seconds // 86400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "min"))
    return " ".join([f"{count} {unit}" for count, unit in parts if count][:2]) or "0 min"


def _moment(text: str) -> str:
    """A moment of a document, to the minute."""
    return f"{text[:10]} {text[11:16]} UTC"
