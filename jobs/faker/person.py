"""faker.person: names, jobs, short biographies. Names are Python Faker's for the locale, drawn evenly."""

from jobs.faker import word
from jobs.faker.lists import LISTS
from jobs.faker.source import Source, fakes, gives, one_of

suffix = one_of("person.suffix")
first_name = gives("Of the record's person.", lambda source: source.person.first)
last_name = gives(
    "Of the record's person; in English, one in twenty is a double name.", lambda source: source.person.last
)
middle_name = fakes("first_name", "A first name.")
sex = gives("``female`` or ``male``, of the record's person.", lambda source: source.person.sex)
job_area = one_of("person.jobArea")
job_descriptor = one_of("person.jobDescriptor")
job_type = one_of("person.jobType")


# Of Python Faker's prefixes, these are particles of surnames.
_TITLES: dict[str, dict[str, tuple[str, ...]]] = {
    "es_ES": {"female": ("Sra.", "Srta.", "Dra."), "male": ("Sr.", "Dr.")},
    "fr_FR": {"female": ("Mme", "Dr", "Pr"), "male": ("M.", "Dr", "Pr")},
    "ja_JP": {"female": ("Ms.", "Dr."), "male": ("Mr.", "Dr.")},
    "zh_CN": {"female": ("Ms.", "Dr."), "male": ("Mr.", "Dr.")},
}
_FAMILY_NAME_FIRST = {"ja_JP": " ", "zh_CN": ""}
"""What stands between the names."""


def _one_of_sex(source: Source, part: str, sex: str) -> str:
    return str(getattr(source.fake, f"{part}_{sex}")())


def _title(source: Source, sex: str) -> str:
    titles = _TITLES.get(source.locale)
    return source.pick(titles[sex]) if titles else _one_of_sex(source, "prefix", sex)


prefix = gives(
    "A title in the locale's language; in English for ja_JP and zh_CN.", lambda source: _title(source, sex(source))
)


def _plain(source: Source, first: str, last: str) -> str:
    between = _FAMILY_NAME_FIRST.get(source.locale)
    return f"{first} {last}" if between is None else f"{last}{between}{first}"


def plain_name(source: Source) -> str:
    """First and last name, in the order of the locale, of somebody else than the record's person."""
    of_sex = source.pick(("female", "male"))
    return _plain(source, _one_of_sex(source, "first_name", of_sex), _one_of_sex(source, "last_name", of_sex))


def full_name(source: Source) -> str:
    """Of the record's person, in the locale's order; one in eight has a title, in English one in eight a suffix."""
    name = _plain(source, source.person.first, source.person.last)
    if source.locale not in _FAMILY_NAME_FIRST and source.chance(0.125):
        name = f"{_title(source, source.person.sex)} {name}"
    has_suffix = source.locale in ("en_US", "en_GB") and source.chance(0.125)
    return f"{name} {suffix(source)}" if has_suffix else name


def job_title(source: Source) -> str:
    """``Senior Data Analyst``; an occupation in the locale's language, except in English and Italian."""
    if source.has("job") and source.locale != "en_US":
        return source.fake.job().strip()
    return f"{job_descriptor(source)} {job_area(source)} {job_type(source)}"


def bio(source: Source) -> str:
    """A line such as people write below their name; half of them end with an emoji."""
    if source.chance(0.5):
        text = ", ".join(source.rng.sample(LISTS["person.bioParts"], source.integer(1, 3)))
    else:
        text = f"{word.noun(source)} {source.pick(LISTS['person.supporters'])}"
    return f"{text} {source.fake.emoji()}" if source.chance(0.5) else text
