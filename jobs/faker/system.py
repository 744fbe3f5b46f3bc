"""faker.system: files, paths, versions, cron lines, Linux network interfaces."""

from __future__ import annotations

from jobs.faker import word
from jobs.faker.source import Source, one_of

# Media type to its usual extension.
_TYPES = {
    "application/epub+zip": "epub", "application/gzip": "gz", "application/java-archive": "jar",
    "application/json": "json", "application/msword": "doc", "application/pdf": "pdf", "application/rtf": "rtf",
    "application/vnd.ms-excel": "xls", "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods", "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx", "application/xml": "xml",
    "application/x-7z-compressed": "7z", "application/x-bzip2": "bz2", "application/x-sh": "sh",
    "application/x-tar": "tar", "application/zip": "zip", "audio/aac": "aac", "audio/flac": "flac", "audio/midi": "mid",
    "audio/mpeg": "mp3", "audio/ogg": "oga", "audio/opus": "opus", "audio/wav": "wav", "audio/webm": "weba",
    "font/otf": "otf", "font/ttf": "ttf", "font/woff": "woff", "font/woff2": "woff2", "image/avif": "avif",
    "image/bmp": "bmp", "image/gif": "gif", "image/jpeg": "jpg", "image/png": "png", "image/svg+xml": "svg",
    "image/tiff": "tiff", "image/webp": "webp", "text/calendar": "ics", "text/css": "css", "text/csv": "csv",
    "text/html": "html", "text/javascript": "js", "text/markdown": "md", "text/plain": "txt", "video/mp4": "mp4",
    "video/mpeg": "mpeg", "video/ogg": "ogv", "video/quicktime": "mov", "video/webm": "webm", "video/x-msvideo": "avi",
}  # fmt: skip
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

mime_type = one_of(*_TYPES)
file_ext = one_of(*_TYPES.values())
file_type = one_of("application", "audio", "font", "image", "text", "video")
common_file_type = one_of("application", "audio", "image", "text", "video")
common_file_ext = one_of("gif", "htm", "html", "jpeg", "jpg", "mp3", "mp4", "mpeg", "pdf", "png", "txt", "wav")
directory_path = one_of(
    "/Applications", "/Library", "/Users", "/bin", "/boot", "/dev", "/etc", "/etc/mail", "/home", "/home/user",
    "/lib", "/media", "/mnt", "/opt/bin", "/opt/share", "/private/tmp", "/private/var", "/proc", "/root", "/sbin",
    "/srv", "/sys", "/usr", "/usr/bin", "/usr/include", "/usr/lib", "/usr/local/bin", "/usr/local/src",
    "/usr/sbin", "/usr/share", "/var", "/var/lib", "/var/log", "/var/mail", "/var/spool",
)  # fmt: skip


def _base_name(source: Source) -> str:
    return "_".join(word.sample(source) for _ in range(source.integer(1, 3))).lower().replace("-", "_")


def file_name(source: Source) -> str:
    """``gray_chapel.avi``."""
    return f"{_base_name(source)}.{file_ext(source)}"


def common_file_name(source: Source) -> str:
    """With an extension that everyone knows."""
    return f"{_base_name(source)}.{common_file_ext(source)}"


def file_path(source: Source) -> str:
    """``/usr/lib/gray_chapel.avi``."""
    return f"{directory_path(source)}/{file_name(source)}"


def semver(source: Source) -> str:
    """``8.16.0``."""
    return f"{source.integer(0, 9)}.{source.integer(0, 20)}.{source.integer(0, 20)}"


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
