"""faker.commerce: shop goods."""

from jobs.faker import checks, color
from jobs.faker.source import Source, gives, one_of

# Some registrant ranges (length, first, last) of the two English-language groups, from the International ISBN Agency: Python
# Faker's are older.
_REGISTRANTS = {
    "0": ((2, 0, 19), (3, 200, 227), (3, 400, 638), (4, 7000, 8499), (5, 85000, 89999), (6, 900372, 949999)),
    "1": ((4, 4000, 5499), (5, 55000, 64999), (5, 68000, 68599), (6, 869800, 915999), (6, 919655, 972999)),
}

department = one_of("commerce.department")
product = one_of("commerce.product")
product_adjective = one_of("commerce.productAdjective")
product_material = one_of("commerce.productMaterial")
product_name = gives(
    "``Soft Bronze Ball``.", lambda source: f"{product_adjective(source)} {product_material(source)} {product(source)}"
)


def product_description(source: Source) -> str:
    """One sentence."""
    item, material, adjective = product(source), product_material(source), product_adjective(source).lower()
    return source.pick((
        f"The {color.human(source)} {item} combines {material} durability with a {adjective} design",
        f"Ergonomic {item} made with {material} for all-day {adjective} support",
        f"New {color.human(source)} {item} with ergonomic design for {adjective} comfort",
        f"Our {adjective} {item} brings {material} quality to every {department(source).lower()} shelf",
        f"Experience the {adjective} side of {material} with our {color.human(source)} {item}",
    ))  # fmt: skip


def price(source: Source) -> str:
    """1.00 to 999.99, two decimals; more than half end in 9, as prices do."""
    cents = source.integer(0, 99)
    if source.chance(0.5):
        cents = cents // 10 * 10 + 9
    return f"{source.integer(1, 999)}.{cents:02}"


def isbn(source: Source) -> str:
    """ISBN-13 with hyphens and a valid check digit; the registrant is of one of the English-language groups."""
    group = source.pick("01")
    length, low, high = source.pick(_REGISTRANTS[group])
    registrant = str(source.integer(low, high)).zfill(length)
    publication = source.digits(8 - length)
    digit = checks.gtin(f"978{group}{registrant}{publication}")
    return f"978-{group}-{registrant}-{publication}-{digit}"


def upc(source: Source) -> str:
    """UPC-A: twelve digits, the last a valid check digit."""
    return (digits := source.digits(11)) + checks.gtin(digits)
