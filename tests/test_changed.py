"""`scripts/test --fast` finds the tests of a change."""

from tests import changed


def test_a_change_is_tested_by_the_tests_of_its_folder() -> None:
    """By the file of its name where there is one; what lies in a folder that runs anyway is not named again."""
    assert changed.tests_of(["jobs/rss/endpoint.py", "tests/jobs/rss/test_endpoint.py"]) == [
        "tests/contract",
        "tests/jobs/rss",
    ]
    assert changed.tests_of(["shared/money.py"]) == ["tests/shared/test_money.py"]
    assert changed.tests_of(["client/coinslot/prices.py", "tests/client/gone_folder/conftest.py"]) == ["tests/client"]
    assert changed.tests_of(["README.md", "docs/client.md", "compose/sandbox/package.json"]) == ["tests/compose"]
