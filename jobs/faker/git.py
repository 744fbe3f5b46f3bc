"""faker.git."""

from datetime import timedelta, timezone

from jobs.faker import hacker, internet, person
from jobs.faker.source import Source, gives, signs

# Not strftime: its names follow the locale of the process.
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

commit_sha = signs("0123456789abcdef", 40, "Forty hex digits.")
branch = gives("``port-synthesize``.", lambda source: f"{hacker.noun(source)}-{hacker.verb(source)}".replace(" ", "-"))


def commit_date(source: Source) -> str:
    """Within the day before the reference date, as git log shows it: ``Fri Nov 20 14:36:32 2026 -0500``."""
    moment = source.now - timedelta(seconds=source.integer(1, 86_399))
    local = moment.astimezone(timezone(timedelta(hours=source.integer(-11, 12))))
    day, month = _DAYS[local.weekday()], _MONTHS[local.month - 1]
    return f"{day} {month} {local.day} {local:%H:%M:%S %Y %z}"


commit_message = gives(
    "``parse auxiliary driver``.",
    lambda source: f"{hacker.verb(source)} {hacker.adjective(source)} {hacker.noun(source)}",
)


def commit_entry(source: Source) -> str:
    """An entry of git log, lines ended by CR LF as in faker-js; one in five is a merge. The e-mail is at an example domain."""
    merge = f"Merge: {source.chars('0123456789abcdef', 7)} {source.chars('0123456789abcdef', 7)}\r\n"
    return (
        f"commit {commit_sha(source)}\r\n{merge if source.chance(0.2) else ''}"
        f"Author: {person.full_name(source)} <{internet.email(source)}>\r\n"
        f"Date: {commit_date(source)}\r\n\r\n    {commit_message(source)}\r\n"
    )
