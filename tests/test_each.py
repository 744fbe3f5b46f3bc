"""A table that is one test fails with all of its rows that are wrong."""

import asyncio

import pytest

from tests.each import each


@pytest.mark.parametrize("is_async", [False, True])
def test_every_row_is_run_and_each_failure_names_its_row(is_async: bool) -> None:
    """Also after a row for which pytest.raises found nothing, which is no Exception; called rows go by their names."""
    seen: list[tuple[int, str]] = []

    def check(number: int, text: str, fixture: str) -> None:
        seen.append((number, text))
        assert fixture == "given"
        if text == "nothing raised":
            with pytest.raises(KeyError):
                pass
        assert number < 3

    async def check_later(number: int, text: str, fixture: str) -> None:
        check(number, text, fixture)

    rows = [(1, "good"), (2, "nothing raised"), (3, "large"), (4, "larger")]
    for ids, noted in (((), "number=3, text='large'"), (["a", "b", "c", "d"], "c")):
        seen.clear()
        run = each(("number", "text"), rows, ids=ids)(check_later if is_async else check)
        with pytest.raises(BaseExceptionGroup, match="3 of 4 rows fail") as caught:
            asyncio.run(run(fixture="given")) if is_async else run(fixture="given")
        assert seen == rows
        assert [type(failure) for failure in caught.value.exceptions[1:]] == [AssertionError] * 2
        assert caught.value.exceptions[1].__notes__ == [f"row: {noted}"]


def test_a_table_ends_with_its_time() -> None:
    """Of what pytest-timeout raises there is one in a test: further rows would have no limit."""
    seen: list[int] = []

    def check(number: int) -> None:
        seen.append(number)
        assert number
        pytest.fail("Timeout (>1.0s) from pytest-timeout.")

    with pytest.raises(BaseExceptionGroup, match="time") as caught:
        each("number", [0, 1, 2])(check)()
    assert seen == [0, 1]
    assert [failure.__notes__ for failure in caught.value.exceptions] == [["row: number=0"], ["row: number=1"]]


def test_a_row_must_have_all_values_and_a_table_a_row() -> None:
    """A table that is empty by mistake would test nothing."""
    with pytest.raises(ValueError, match="shorter"):
        each(("a", "b"), [(1,)])
    with pytest.raises(AssertionError, match="tests nothing"):
        each("a", [])


@each("number", [1, 2])
@each("text", ["a"])
def test_tables_multiply(number: int, text: str, request: pytest.FixtureRequest) -> None:
    """Fixtures come from pytest, which sees them alone."""
    assert request.fixturenames.count("number") + request.fixturenames.count("text") == 0
    assert (number in (1, 2), text) == (True, "a")
