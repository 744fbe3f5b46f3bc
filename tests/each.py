"""A table as one test: pytest's parameters without a test for every row."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def each(
    names: str | tuple[str, ...], rows: Iterable[Any] | Callable[[], Iterable[Any]], *, ids: Iterable[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run the decorated test with every row, as one test.

    A test of its own for every row takes some 2 ms of CPU time more: each process collects it, and its reports are sent.
    All rows are run. The failure is the group of the failures of all rows, each with a note that says which row it is. The rows
    share the test's fixtures and its time limit: nothing is made anew for a row. Below hypothesis.given each example is tried
    with every row.

    Parameters:
        names: The parameters that a row fills; of one parameter its name alone.
        rows: Their values: of one parameter the value, of several a tuple. A function that makes them is called
            when the test runs.
        ids: What the rows are called, where their values do not say it.
    """
    parameters = (names,) if isinstance(names, str) else names

    @functools.cache
    def table() -> list[tuple[str, dict[str, Any]]]:
        values = list(rows() if callable(rows) else rows)
        assert values, "a table without rows tests nothing"
        filled = [dict(zip(parameters, (row,) if isinstance(names, str) else row, strict=True)) for row in values]
        return list(zip(ids or [""] * len(values), filled, strict=True))

    if not callable(rows):
        table()

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in parameters]
        remaining = signature.replace(parameters=others)

        if inspect.iscoroutinefunction(test):

            @functools.wraps(test)
            async def run(*arguments: Any, **named: Any) -> None:
                given = remaining.bind(*arguments, **named).arguments
                failures: list[BaseException] = []
                for name, row in table():
                    with _kept(failures, name, row):
                        await test(**given, **row)
                _raise(failures, len(table()))

        else:

            @functools.wraps(test)
            def run(*arguments: Any, **named: Any) -> None:
                given = remaining.bind(*arguments, **named).arguments
                failures: list[BaseException] = []
                for name, row in table():
                    with _kept(failures, name, row):
                        test(**given, **row)
                _raise(failures, len(table()))

        run.__signature__ = remaining  # type: ignore[attr-defined]  # pytest and hypothesis fill these parameters
        return run

    return decorate


@contextmanager
def _kept(failures: list[BaseException], called: str, row: dict[str, Any]) -> Iterator[None]:
    """A failure is kept, with the row that it is of."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as failure:
        failure.add_note("row: " + (called or ", ".join(f"{name}={_shown(value)}" for name, value in row.items())))
        failures.append(failure)
        if isinstance(failure, pytest.fail.Exception) and "from pytest-timeout" in str(failure):
            # It comes once for the whole test: further rows would have no limit.
            raise BaseExceptionGroup("the time of the table is over", failures) from None


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.300}"
    except ValueError:
        return "an integer of more digits than Python writes"


def _raise(failures: list[BaseException], rows: int) -> None:
    __tracebackhide__ = True
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {rows} rows fail", failures)
