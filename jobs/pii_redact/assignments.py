"""Finds passwords and keys by the name before them: `password=...`, `"api_key": "..."`, `Authorization: Bearer ...`.

After a name for a password, nearly any value is one. After a name for a key or token, the value must look random: it has digits
and enough different characters. What a program or a template fills in later stays: variables, calls, `${NAME}`, `<name>`.
"""

import math
import string
from collections import Counter
from collections.abc import Iterator

from jobs.engines.text.linear import Match, compiled
from jobs.engines.text.names import names
from jobs.pii_redact.surroundings import is_barrier

_FOR_PASSWORDS = (
    "passw(?:or)?d|passphrase|passwort|kennwort|contraseñ?a|contrasena|senha|mot de passe|wachtwoord|lösenord|hasło|heslo"
    "|salasana|пароль|密码|密碼|パスワード|비밀번호|pwd|[_-]pass\\b"
)
_FOR_KEYS = (
    "(?:api|app|access|account|auth|client|encryption|license|master|private|secret|service|session|shared|signing|storage)"
    "[_ -]?key"
    "|secret|token|credentials?|authorization|bearer|key"
)
_VALUE = r"(?:\"([^\"\n]{1,256})\"|'([^'\n]{1,256})'|`([^`\n]{1,256})`|([^\s\"'`]{1,256}))"
_ASSIGNED = compiled(
    rf"(?i)((?:{_FOR_PASSWORDS})|{_FOR_KEYS})([0-9a-z_-]{{0,24}})\\?[\"'`]?\]? {{0,4}}"
    rf"(=>|:=|={{1,2}}|:| (?:is|ist|lautet|es|est|è|é) )[ \t]{{0,4}}((?:(?:bearer|basic|token|apikey) )?)\\?{_VALUE}"
)
_OPTION = compiled(
    rf"(?i)--[a-z-]{{0,24}}?(passw(?:or)?d|passphrase|secret|token|(?:api|access|secret|private)-key)(-[a-z]+)?( )()"
    rf"{_VALUE}"
)
_SCHEME = compiled(rf"(?i)\b((?:bearer|basic))()( )(){_VALUE}")
_LOGIN = compiled(r"\bcurl [^\n]*?(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'$]{1,64}:([^\s\"'$]{1,128})")
_IN_URL = compiled(r"(?i)[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>]{1,128})@")

_PASSWORD = compiled(rf"(?i){_FOR_PASSWORDS}")
_OTHER_THINGS = names(
    """
    algorithm alias class count counter enabled encryption endpoint expiration expires expiry field file files format
    generator hash header hint id ids index label len length limit manager max method min mode name names path policy
    prefix provider ref regex required reset ring rotation rules scope size state status store strategy strength suffix
    timeout ttl type uri url user username validator version
    """
)
"""Last words of a name that make it one for something else: `token_count`, `secretName`, `password_file`."""
_PLACES = tuple(
    word + joint
    for lower in (
        "next",
        "page",
        "change",
        "continuation",
        "sync",
        "resume",
        "idempotency",
        "public",
        "primary",
        "foreign",
        "cache",
    )
    for word in (lower, lower.title(), lower.upper())
    for joint in ("", "_", "-", " ")
)
"""Words before "token" and "key" that make them a place in a list, or the name of something."""
_REACH = 16
"""As long as the longest of them."""
_NOT_VALUES = names(
    """
    the your this that must cannot should will has and for not none null nil true false undefined string str text char varchar
    required optional missing invalid incorrect wrong expired changed reset protected hidden empty blank unknown password passwd
    passphrase pass pwd secret token value type field input example default correct redacted masked removed prompt
    """
)
_TEMPLATE = tuple("$<{[(*%&@#./\\-_")
"""First characters of what is filled in later, of a path, and of what is not shown."""
_CODE = tuple("([.")
_WORDS = compiled(r"(?:[A-Za-z]+|[0-9]+)(?:[-_./:@](?:[A-Za-z]+|[0-9]+))*")
"""Words and numbers that are joined: a name, a path, a date."""
_IDENTIFIER = compiled(r"[A-Za-z_][A-Za-z_.]*")
_RANDOM = compiled(r"[0-9A-Za-z_+/=.~-]+")
_MIXED = compiled(r"[!-'*-;=?-z|~]+")
"""As keys of frameworks are: any sign but brackets and spaces."""
_DATE = compiled(r"(?:19|20)\d\d-?[01]\d-?[0-3]\d.*")
_MIN_PASSWORD = 4
_MIN_KEY = 10
_MIN_ENTROPY = 2.9
"""Bits for each character. Words and numbers have less."""
_MIN_RANDOM = 16
_MIN_DIGITS = 4
_MIN_RANDOM_ENTROPY = 3.5
"""For a value after the word "key" alone."""


def find(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of the values."""
    lower = text.casefold()
    is_scheme_named = "bearer" in lower or "basic" in lower
    # A search of the whole text costs far more than to see that a part of each match is not there.
    for pattern in (_ASSIGNED, *((_OPTION,) if "--" in text else ()), *((_SCHEME,) if is_scheme_named else ())):
        for match in pattern.finditer(text):
            group = next(group for group in (5, 6, 7, 8) if match[group] is not None)
            start, end = match.start(group), match.end(group)
            value = text[start:end] if group != 8 else _without_rest(text[start:end])
            end = start + len(value.rstrip("\\"))
            if _is_secret(text, match, start, end, is_quoted=group != 8):
                yield start, end
    for pattern in (*((_IN_URL,) if "://" in text and "@" in text else ()), *((_LOGIN,) if "curl " in text else ())):
        for match in pattern.finditer(text):
            if _may_be_password(match[1] or ""):
                yield match.start(1), match.end(1)


def _without_rest(value: str) -> str:
    """A value without quotes, and without what follows it: the next field, the end of a sentence."""
    for mark in (";", ",", "<", "\\n", "\\t"):
        value = value.partition(mark)[0]
    if "&" in value and "=" in value.partition("&")[2]:
        value = value.partition("&")[0]
    return value.rstrip(".:)]}>")


def _is_secret(text: str, match: Match, start: int, end: int, *, is_quoted: bool) -> bool:
    name, ending = match[1] or "", match[2] or ""
    if start == end or is_barrier(text[end : end + 1]) or any(is_barrier(char) for char in text[start:end]):
        return False
    if not _is_of_name(name, ending) or text[max(0, match.start() - _REACH) : match.start()].endswith(_PLACES):
        return False
    value, sign = text[start:end], match[3] or ""
    if name.lower() == "key":
        is_word = match.start() == 0 or not text[match.start() - 1].isalpha() or name[0] == "K"
        return is_word and _is_random(value)
    if _PASSWORD.fullmatch(name) is None:
        return _may_be_key(value) or (is_quoted and _is_mixed(value))
    if not _may_be_password(value) or (sign[:1] == " " and value.isalpha()):
        return False
    if is_quoted:
        return True
    if any(mark in value for mark in "([{"):
        return False  # code
    if _IDENTIFIER.fullmatch(value):
        # A word: only where programs write no spaces, and not the name of a variable.
        is_tight = text[match.end(2) : start] == "=" and text[end : end + 1] not in (",", ")")
        return is_tight and value.isalpha()
    return True


def _is_of_name(name: str, ending: str) -> bool:
    """Whether the end of a name leaves it a name for a secret: not "s", "izer", "_count"."""
    if not ending or ending.isdigit():
        return True
    if name[-5:-4] in ("_", "-") or not (ending[0] in "_-" or ending[0].isupper()):
        return False  # "--pass-through"; another word
    words = ending.lower() if ending.isupper() else ending
    last = words[max(0, len(words.rstrip(string.ascii_lowercase)) - 1) :]
    return last.lower().lstrip("_-") not in _OTHER_THINGS


def _may_be_password(value: str) -> bool:
    if (
        len(value) < _MIN_PASSWORD
        or value.startswith(_TEMPLATE)
        or "://" in value
        or any(char.isspace() for char in value)
    ):
        return False
    return len(set(value)) > 2 and value.lower().strip("_-.!?") not in _NOT_VALUES


def _may_be_key(value: str) -> bool:
    """Whether a value looks random."""
    if len(value) < _MIN_KEY or not _RANDOM.fullmatch(value) or _WORDS.fullmatch(value) or _DATE.fullmatch(value):
        return False
    if value.startswith(_TEMPLATE) or not any(char.isdigit() for char in value):
        return False
    return _entropy(value) >= _MIN_ENTROPY


def _is_mixed(value: str) -> bool:
    """Whether a value in quotes has letters, digits and signs as only a generated one has."""
    if len(value) < _MIN_RANDOM or not _MIXED.fullmatch(value) or _WORDS.fullmatch(value) or "://" in value:
        return False
    has_both = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return has_both and not value.startswith(_TEMPLATE) and _entropy(value) >= _MIN_RANDOM_ENTROPY


def _is_random(value: str) -> bool:
    """Whether a value looks random even after a name that says little: letters and digits only, and of many different ones."""
    cases = value.lower() != value, value.upper() != value
    is_mixed = all(cases) or sum(char.isdigit() for char in value) >= _MIN_DIGITS
    is_long = len(value) >= _MIN_RANDOM and value.rstrip("=").isalnum()
    return is_long and is_mixed and _may_be_key(value) and _entropy(value) >= _MIN_RANDOM_ENTROPY


def _entropy(value: str) -> float:
    """Shannon's entropy of the characters, in bits for each."""
    counts = Counter(value)
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
