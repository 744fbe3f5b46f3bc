"""faker.person: names of the United States, jobs, short biographies. Names are Python Faker's, drawn evenly."""

from __future__ import annotations

from jobs.faker import word
from jobs.faker.source import Source, one_of

BIO_PARTS = (
    "artist", "author", "baker", "blogger", "cyclist", "designer", "developer", "dreamer", "engineer", "film lover",
    "founder", "friend", "gamer", "gardener", "geek", "inventor", "musician", "nerd", "parent", "photographer",
    "public speaker", "scientist", "student", "teacher", "traveler", "veteran", "writer",
)  # fmt: skip
SUPPORTERS = ("advocate", "devotee", "enthusiast", "fan", "junkie", "lover", "supporter")

prefix = one_of("Mr.", "Mrs.", "Ms.", "Miss", "Dr.")
suffix = one_of("Jr.", "Sr.", "I", "II", "III", "IV", "V", "MD", "DDS", "PhD", "DVM")
sex = one_of("female", "male")
sex_type = one_of("female", "male")
gender = one_of(
    "Agender", "Androgyne", "Bigender", "Cis man", "Cis woman", "Demi-boy", "Demi-girl", "Female", "Gender fluid",
    "Gender nonconforming", "Gender questioning", "Genderqueer", "Intersex person", "Male", "Man", "Multigender",
    "Non-binary", "Omnigender", "Other", "Pangender", "Trans man", "Trans person", "Trans woman", "Two-spirit",
    "Woman",
)  # fmt: skip
zodiac_sign = one_of(
    "Aries", "Taurus", "Gemini", "Cancer", "Leo", "Virgo", "Libra", "Scorpio", "Sagittarius", "Capricorn", "Aquarius",
    "Pisces",
)  # fmt: skip
job_area = one_of(
    "Accounts", "Applications", "Assurance", "Brand", "Communications", "Configuration", "Creative", "Data", "Design",
    "Infrastructure", "Integration", "Intranet", "Marketing", "Markets", "Metrics", "Operations", "Optimization",
    "Program", "Quality", "Research", "Response", "Security", "Solutions", "Tactics", "Usability", "Web",
)  # fmt: skip
job_descriptor = one_of(
    "Central", "Chief", "Corporate", "Customer", "Direct", "District", "Dynamic", "Forward", "Future", "Global",
    "Human", "Internal", "International", "Investor", "Lead", "Legacy", "National", "Principal", "Product",
    "Regional", "Senior",
)  # fmt: skip
job_type = one_of(
    "Administrator", "Agent", "Analyst", "Architect", "Assistant", "Associate", "Consultant", "Coordinator",
    "Designer", "Developer", "Director", "Engineer", "Executive", "Facilitator", "Liaison", "Manager", "Officer",
    "Planner", "Producer", "Representative", "Specialist", "Strategist", "Supervisor", "Technician",
)  # fmt: skip


def first_name(source: Source) -> str:
    """Of any sex."""
    return source.fake.first_name()


def middle_name(source: Source) -> str:
    """A first name."""
    return source.fake.first_name()


def last_name(source: Source) -> str:
    """One in twenty is a double name."""
    name = source.fake.last_name()
    return f"{name}-{source.fake.last_name()}" if source.rng.random() < 0.05 else name


def full_name(source: Source) -> str:
    """First and last name; one in eight has a prefix, which suits the first name, one in eight a suffix."""
    first = first_name(source)
    name = f"{first} {last_name(source)}"
    if source.rng.random() < 0.125:
        name = f"{_suiting(prefix(source), first)} {name}"
    return f"{name} {suffix(source)}" if source.rng.random() < 0.125 else name


def _suiting(title: str, first: str) -> str:
    """The prefix, or the one in its place for a first name that only women or only men have."""
    from faker.providers.person.en_US import Provider

    male, female = first in Provider.first_names_male, first in Provider.first_names_female
    if title == "Mr.":
        return "Ms." if female and not male else title
    return "Mr." if male and not female and title != "Dr." else title


def job_title(source: Source) -> str:
    """``Senior Data Analyst``."""
    return f"{job_descriptor(source)} {job_area(source)} {job_type(source)}"


def bio(source: Source) -> str:
    """A line such as people write below their name; half of them end with an emoji."""
    if source.rng.random() < 0.5:
        text = ", ".join(source.rng.sample(BIO_PARTS, source.integer(1, 3)))
    else:
        text = f"{word.noun(source)} {source.pick(SUPPORTERS)}"
    return f"{text} {source.fake.emoji()}" if source.rng.random() < 0.5 else text
