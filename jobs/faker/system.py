"""faker.system: files, paths, versions, cron lines, Linux network interfaces."""

from jobs.faker import word
from jobs.faker.lists import LISTS
from jobs.faker.source import Source, drawn, gives, one_of

_EXTENSIONS, _MEDIA_TYPES = zip(*(pair.split() for pair in LISTS["system.extensions"]), strict=True)
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

mime_type = drawn(tuple(sorted(set(_MEDIA_TYPES))))
file_ext = drawn(tuple(sorted(set(_EXTENSIONS))))
common_file_ext = one_of("system.commonFileExt")
directory_path = one_of("system.directoryPath")


def _base_name(source: Source) -> str:
    words = "_".join(word.sample(source) for _ in range(source.integer(1, 3)))
    return words.lower().replace("-", "_").replace(" ", "_")


file_name = gives("``gray_chapel.avi``.", lambda source: f"{_base_name(source)}.{file_ext(source)}")
common_file_name = gives(
    "With an extension that everyone knows.", lambda source: f"{_base_name(source)}.{common_file_ext(source)}"
)
file_path = gives("``/usr/lib/gray_chapel.avi``.", lambda source: f"{directory_path(source)}/{file_name(source)}")
semver = gives("``8.16.0``.", lambda source: f"{source.integer(0, 9)}.{source.integer(0, 20)}.{source.integer(0, 20)}")


def cron(source: Source) -> str:
    """Five fields: minute, hour, day, month, weekday. A ``?`` stands in the day or in the weekday, never in both."""
    minute = source.pick((str(source.integer(0, 59)), "*"))
    hour = source.pick((str(source.integer(0, 23)), "*"))
    day = source.pick((str(source.integer(1, 31)), "*", "?"))
    month = source.pick((str(source.integer(1, 12)), "*"))
    weekday = source.pick((str(source.integer(0, 6)), source.pick(_WEEKDAYS), "*", "*" if day == "?" else "?"))
    return f"{minute} {hour} {day} {month} {weekday}"


def network_interface(source: Source) -> str:
    """A predictable name as systemd gives it: by index, slot, MAC address or PCI position."""
    kind = source.pick(("en", "wl", "ww"))
    function = source.pick(("", f"f{source.integer(0, 9)}"))
    device = source.pick(("", f"d{source.integer(0, 9)}"))
    prefix = source.pick(("", f"P{source.integer(0, 9)}"))
    return source.pick((
        f"{kind}o{source.integer(0, 9)}",
        f"{kind}s{source.integer(0, 9)}{function}{device}",
        f"{kind}x{source.chars('0123456789abcdef', 12)}",
        f"{prefix}{kind}p{source.integer(0, 9)}s{source.integer(0, 9)}{function}{device}",
    ))  # fmt: skip
