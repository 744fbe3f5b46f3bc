"""Suggestions."""

from jobs.faker.allowlist import METHODS
from jobs.faker.closest import closest
from tests.each import each


@each(
    ("name", "meant"),
    [
        ("person.firstname", "person.firstName"),
        ("person.first_name", "person.firstName"),
        (" person.firstName ", "person.firstName"),
        ("name.firstName", "person.firstName"),
        ("address.city", "location.city"),
        ("datatype.uuid", "string.uuid"),
        ("internet.userName", "internet.username"),
        ("phone.phoneNumber", "phone.number"),
        ("uuid", "string.uuid"),
        ("fullName", "person.fullName"),
        ("commerce.colour", "vehicle.color"),
        ("number.integer", "number.int"),
        ("location.zip", "location.zipCode"),
        ("address.zip", "location.zipCode"),
        ("location.lat", "location.latitude"),
        ("internet.ipAddress", "internet.ip"),
        ("image.imageUrl", "image.url"),
        ("company.companyName", "company.name"),
        ("music.song", "music.songName"),
        ("science.element", "science.chemicalElement"),
    ],
)
def test_first_suggestion_is_what_was_meant(name: str, meant: str) -> None:
    """An old module name, another case or a slip still leads to the method."""
    assert closest(name, METHODS)[0] == meant


def test_same_module_wins_a_tie() -> None:
    """Methods of equal spelling in several modules: the one of the module that was named comes first."""
    assert closest("color.human", METHODS)[0] == "color.human"
    assert closest("vehicle.colour", METHODS)[0] == "vehicle.color"


def test_siblings_when_nothing_is_spelled_alike() -> None:
    """A known module with an unknown method suggests methods of that module."""
    names = closest("date.between", METHODS)
    assert len(names) == 5
    assert all(name.startswith("date.") for name in names)


@each("name", ["person", "Person", "person.", "number"])
def test_a_module_alone(name: str) -> None:
    """Of a module without a method the first names are suggested."""
    module = name.lower().rstrip(".")
    assert closest(name, METHODS) == tuple([each for each in METHODS if each.startswith(f"{module}.")][:5])


@each("name", ["", ".", "zzz", "__class__", "faker.providers", "\U0001d529", "x" * 100_000])
def test_nothing_near_suggests_nothing(name: str) -> None:
    """Nonsense has no suggestions, and a long name costs no more than a short one."""
    assert closest(name, METHODS) == ()


@each("name", [*list(METHODS)[::20], "e", "name", "person.", "number.number"])
def test_suggestions_are_allowed_names_and_at_most_five(name: str) -> None:
    """Whatever is suggested would be accepted."""
    names = closest(name, METHODS)
    assert len(names) <= 5
    assert set(names) <= METHODS.keys()
