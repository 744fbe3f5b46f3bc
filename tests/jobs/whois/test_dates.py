"""Dates in the forms that registries use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.whois.dates import read_date
from jobs.whois.endpoint import iso
from tests.each import each

DATES = {
    "2028-09-13T01:02:03Z": "2028-09-13T01:02:03Z",
    "2028-09-13T01:02:03.456789Z": "2028-09-13T01:02:03Z",
    "2028-09-13T01:02:03+09:00": "2028-09-12T16:02:03Z",
    "2028-09-13T01:02:03-0330": "2028-09-13T04:32:03Z",
    "2028-09-13 01:02:03+02": "2028-09-12T23:02:03Z",
    "2028-09-13 01:02:03": "2028-09-13T01:02:03Z",
    "2028-09-13 01:02:03 UTC": "2028-09-13T01:02:03Z",
    "2028-09-13 01:02:03 (UTC+8)": "2028-09-12T17:02:03Z",
    "2028-09-13 01:02:03 (GMT+0:00)": "2028-09-13T01:02:03Z",
    "2028-09-13 (YYYY-MM-DD)": "2028-09-13T00:00:00Z",
    "2028/09/13": "2028-09-13T00:00:00Z",
    "2028/09/13 01:05:11 (JST)": "2028-09-12T16:05:11Z",
    "2028.09.13 01:02:03": "2028-09-13T01:02:03Z",
    "2028. 09. 13.": "2028-09-13T00:00:00Z",
    "2028. 9. 3": "2028-09-03T00:00:00Z",
    "20280913": "2028-09-13T00:00:00Z",
    "20280913 #162310": "2028-09-13T00:00:00Z",
    "20280913 01:02:03": "2028-09-13T01:02:03Z",
    "20280913010203": "2028-09-13T01:02:03Z",
    "20280913T010203Z": "2028-09-13T01:02:03Z",
    "13-Sep-2028": "2028-09-13T00:00:00Z",
    "13-SEP-2028 18:18:18": "2028-09-13T18:18:18Z",
    "13-Sep-2028 18:18:18 UTC": "2028-09-13T18:18:18Z",
    "13-Sep-28": "2028-09-13T00:00:00Z",
    "13-Sep-98": "1998-09-13T00:00:00Z",
    "13 September 2028": "2028-09-13T00:00:00Z",
    "13th September 2028 at 00:00:00.000": "2028-09-13T00:00:00Z",
    "Wednesday 13th September 2028": "2028-09-13T00:00:00Z",
    "1st May 2028": "2028-05-01T00:00:00Z",
    "2028-Sep-13.": "2028-09-13T00:00:00Z",
    "September 13 2028": "2028-09-13T00:00:00Z",
    "June  4 1997": "1997-06-04T00:00:00Z",
    "Sep 13, 2028": "2028-09-13T00:00:00Z",
    "Tue Dec 12 1995": "1995-12-12T00:00:00Z",
    "Tue Dec 12 11:12:13 1995": "1995-12-12T11:12:13Z",
    "Tue Dec 12 11:12:13 GMT 1995": "1995-12-12T11:12:13Z",
    "Tue Dec 12 11:12:13 CET 1995": "1995-12-12T10:12:13Z",
    "Tue, 12 Dec 1995 11:12:13 GMT": "1995-12-12T11:12:13Z",
    "13.09.2028": "2028-09-13T00:00:00Z",
    "1.1.1999 00:00:00": "1999-01-01T00:00:00Z",
    "13/09/2028 07:08:09": "2028-09-13T07:08:09Z",
    "13-09-2028": "2028-09-13T00:00:00Z",
    "03/04/2028": "2028-04-03T00:00:00Z",
    "09/13/2028": "2028-09-13T00:00:00Z",
    "2028年09月13日": "2028-09-13T00:00:00Z",
    "2028년 9월 13일": "2028-09-13T00:00:00Z",
    "13-Sep-2028 11:12:13 PM": "2028-09-13T23:12:13Z",
    "12 août 2028": "2028-08-12T00:00:00Z",
    "12 de dezembro de 2028": "2028-12-12T00:00:00Z",
    "12 März 2028": "2028-03-12T00:00:00Z",
    "9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z",
}

NO_DATES = [
    *(
        "",
        "-",
        "n/a",
        "before Aug-1996",
        "Before 2001",
        "antes de 2001-01-01",
        "0000-00-00",
        "2028-13-45",
        "31-Feb-2028",
    ),
    *(
        "Aug-1996",
        "2028",
        "not disclosed",
        "REDACTED FOR PRIVACY",
        "9999-12-31T23:59:59-12:00",
        "0001-01-01T00:00:00+14:00",
    ),
    *("the date of the registrar", "13-Foo-2028", "2028-09-133", "1" * 500, "1-" * 500),
]


@each(("text", "expected"), DATES.items())
def test_a_date(text: str, expected: str) -> None:
    """In UTC, to the second."""
    moment = read_date(text)
    assert moment is not None
    assert iso(moment) == expected


@each("text", NO_DATES)
def test_what_is_no_date(text: str) -> None:
    """Or only a limit, or one that does not exist."""
    assert read_date(text) is None


def test_month_first() -> None:
    """Where a registry writes so; what cannot be a month is a day all the same."""
    assert iso(read_date("03/04/2028", month_first=True) or pytest.fail("none")) == "2028-03-04T00:00:00Z"
    assert iso(read_date("13/04/2028", month_first=True) or pytest.fail("none")) == "2028-04-13T00:00:00Z"


@given(st.text(alphabet="0123456789-/. :TZ+JanFeb年月日#()," + "あ", max_size=60) | st.text(max_size=60))
def test_nothing_raises(text: str) -> None:
    """Whatever the text is."""
    moment = read_date(text)
    assert moment is None or iso(moment).endswith("Z")
