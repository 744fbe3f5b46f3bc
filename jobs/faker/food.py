"""faker.food."""

from __future__ import annotations

from jobs.faker.source import Source, one_of

adjective = one_of(
    "bitter", "creamy", "crispy", "crunchy", "delicious", "fluffy", "fresh", "golden", "juicy", "moist", "rich",
    "salty", "savory", "smoky", "sour", "spicy", "sweet", "tangy", "tender", "zesty",
)  # fmt: skip
ethnic_category = one_of(
    "Algerian", "American", "Argentine", "Austrian", "Bengali", "Brazilian", "Cajun", "Cantonese", "Caribbean",
    "Chilean", "Cuban", "Danish", "Dutch", "Egyptian", "English", "Ethiopian", "Filipino", "Finnish", "French",
    "Georgian", "German", "Greek", "Hungarian", "Indonesian", "Irish", "Italian", "Jamaican", "Japanese", "Korean",
    "Lebanese", "Malaysian", "Mexican", "Moroccan", "Nepalese", "Norwegian", "Persian", "Peruvian", "Polish",
    "Portuguese", "Punjabi", "Scottish", "Sicilian", "Spanish", "Swedish", "Swiss", "Syrian", "Thai", "Turkish",
    "Ukrainian", "Vietnamese", "Welsh",
)  # fmt: skip
fruit = one_of(
    "apple", "apricot", "banana", "blackberry", "blueberry", "cherry", "clementine", "cranberry", "currant", "date",
    "fig", "gooseberry", "grape", "grapefruit", "guava", "kiwi", "lemon", "lime", "lychee", "mandarin", "mango",
    "melon", "nectarine", "orange", "papaya", "passionfruit", "peach", "pear", "pineapple", "plum", "pomegranate",
    "quince", "raspberry", "strawberry", "watermelon",
)  # fmt: skip
ingredient = one_of(
    "almonds", "anchovies", "arborio rice", "balsamic vinegar", "basmati rice", "black beans", "brie", "brown sugar",
    "buckwheat", "buttermilk", "capers", "cashews", "cheddar", "chickpeas", "coconut milk", "couscous",
    "cream cheese", "dark chocolate", "dijon mustard", "eggs", "feta", "flour", "gouda", "hazelnuts", "honey",
    "lentils", "maple syrup", "miso", "mozzarella", "noodles", "oats", "olive oil", "parmesan", "peanut butter",
    "pine nuts", "quinoa", "ricotta", "sesame oil", "sour cream", "soy sauce", "tahini", "tofu", "walnuts", "yeast",
    "yogurt",
)  # fmt: skip
meat = one_of(
    "beef", "chicken", "duck", "goose", "ham", "lamb", "mutton", "pork", "quail", "rabbit", "salmon", "turkey",
    "veal", "venison",
)  # fmt: skip
spice = one_of(
    "allspice", "basil", "bay leaf", "black pepper", "caraway", "cardamom", "cayenne", "chili", "chives", "cilantro",
    "cinnamon", "clove", "coriander", "cumin", "curry", "dill", "fennel", "garam masala", "ginger", "lemon grass",
    "mace", "marjoram", "mint", "mustard seed", "nutmeg", "oregano", "paprika", "parsley", "rosemary", "saffron",
    "sage", "star anise", "sumac", "tarragon", "thyme", "turmeric", "vanilla",
)  # fmt: skip
vegetable = one_of(
    "artichoke", "arugula", "asparagus", "beetroot", "bok choy", "broccoli", "brussels sprouts", "cabbage", "carrot",
    "cauliflower", "celery", "chard", "corn", "cucumber", "eggplant", "fennel", "green beans", "kale", "kohlrabi",
    "leek", "lettuce", "mushroom", "okra", "onion", "parsnip", "peas", "potato", "pumpkin", "radish", "shallot",
    "spinach", "squash", "sweet potato", "tomato", "turnip", "zucchini",
)  # fmt: skip


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
