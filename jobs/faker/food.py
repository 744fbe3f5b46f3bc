"""faker.food."""

from itertools import chain

from jobs.faker.lists import LISTS
from jobs.faker.source import Source, drawn, one_of

adjective = one_of("food.adjective")
ethnic_category = one_of("food.ethnicCategory")
fruit = one_of("food.fruit")
meat = one_of("food.meat")
spice = one_of("food.spice")
vegetable = one_of("food.vegetable")
_INGREDIENTS = (LISTS[f"food.{kind}"] for kind in ("staples", "fruit", "vegetable", "spice", "meat"))
ingredient = drawn(tuple(dict.fromkeys(chain.from_iterable(_INGREDIENTS))))


def dish(source: Source) -> str:
    """``Rosemary-rubbed Pork Salad``, in title case."""
    name = source.pick((
        f"{spice(source)}-rubbed {meat(source)} salad",
        f"{spice(source)}-crusted {meat(source)}",
        f"{ethnic_category(source)} {vegetable(source)} soup",
        f"{adjective(source)} {vegetable(source)} curry",
        f"{meat(source)} with {fruit(source)} sauce",
        f"{fruit(source)} pie",
        f"{vegetable(source)} and {ingredient(source)} bowl",
    ))  # fmt: skip
    return " ".join(part if part in ("and", "with") else part[:1].upper() + part[1:] for part in name.split(" "))


def description(source: Source) -> str:
    """One sentence of a menu."""
    return source.pick((
        f"Grilled {meat(source)} kebabs, marinated in {ethnic_category(source)} spices and served with a fresh "
        f"{vegetable(source)} and {fruit(source)} salad.",
        f"Slow-simmered {adjective(source)} {vegetable(source)} stew, fragrant with {spice(source)} and finished with herbs.",
        f"Tender {meat(source)} skewers, glazed with a {adjective(source)} {fruit(source)} sauce, served over jasmine rice.",
        f"A comforting bowl of {adjective(source)} {ingredient(source)} and {vegetable(source)}, slow-cooked until soft.",
        f"Roasted {vegetable(source)} with {spice(source)} and a drizzle of {fruit(source)}, served over fluffy grains.",
        f"A classic pie filled with {meat(source)} and {adjective(source)} {ingredient(source)}, baked golden brown.",
    ))  # fmt: skip
