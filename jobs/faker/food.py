"""faker.food."""

from __future__ import annotations

from jobs.faker.source import Source, drawn, listed, one_of

adjective = one_of("""
    bitter, creamy, crispy, crunchy, delicious, fluffy, fresh, golden, juicy, moist, rich, salty, savory, smoky, sour, spicy
    sweet, tangy, tender, zesty
""")
ethnic_category = one_of("""
    Algerian, American, Armenian, Australian, Austrian, Bangladeshi, Basque, Belgian, Bolivian, Brazilian, British, Cambodian
    Cantonese, Catalan, Chilean, Chinese, Corsican, Creole, Croatian, Czech, Danish, Dutch, Egyptian, Estonian, Filipino
    Finnish, French, German, Ghanaian, Goan, Gujarati, Hawaiian, Hungarian, Indian, Indonesian, Jamaican, Japanese, Kashmiri
    Korean, Laotian, Latvian, Lithuanian, Malaysian, Maltese, Mongolian, Moroccan, Norwegian, Pakistani, Persian, Polish
    Portuguese, Punjabi, Russian, Sardinian, Scottish, Serbian, Sicilian, Sichuan, Sri Lankan, Swedish, Syrian, Taiwanese
    Tamil, Tibetan, Tunisian, Turkish, Uzbek, Vietnamese, Welsh, Yemeni
""")
_FRUITS = listed("""
    apple, avocado, banana, blackberry, blood orange, blueberry, boysenberry, cherry, clementine, coconut, cranberry, date
    dragonfruit, elderberry, fig, gooseberry, grape, guava, honeydew, jackfruit, kiwi, lemon, lime, loganberry, lychee
    mandarin, mango, mulberry, nectarine, orange, papaya, peach, pear, persimmon, plantain, plum, pomegranate, prune, quince
    raspberry, redcurrant, sour cherry, starfruit, strawberry, tangerine, ugli fruit, watermelon, yuzu
""")
_STAPLES = listed("""
    bacon, blue cheese, bread, caramel, chia seeds, chicken stock, cocoa powder, cornflour, crab, dashi, dried apricots
    freekeh, ghee, grape seed oil, gruyere, jasmine rice, ketchup, lima beans, lobster, marmalade, mascarpone, milk, navy beans
    nori, pappardelle, peanuts, pinto beans, polenta, popcorn, prosciutto, rice paper, rolled oats, salami, salt, scallops
    shrimp, soba, spelt, squid, sunflower seeds, tomato paste, vegetable stock, water chestnuts, worcestershire, almonds
    arborio rice, brown sugar, capers, cheddar, chickpeas, dijon, feta, hazelnuts, honey, noodles, olive, parmesan, quinoa
    sour cream, tofu, yeast, yogurt
""")
_MEATS = listed("beef, chicken, duck, goose, ham, lamb, mutton, pork, quail, rabbit, salmon, turkey, veal, venison")
_SPICES = listed("""
    allspice, amchur, anise, asafoetida, basil, bay leaf, berbere, black cardamom, black salt, caraway, cardamom, cayenne
    chervil, chili, chipotle, chives, cinnamon, clove, coriander, cumin, curry, dill, epazote, fennel seed, fenugreek
    garam masala, garlic powder, ginger, green peppercorn, juniper berry, kaffir lime leaf, lavender, lemon balm, licorice root
    mace, marjoram, mint, mustard seed, nutmeg, onion powder, oregano, paprika, ras el hanout, rosemary, saffron, sage
    sichuan pepper, smoked paprika, sorrel, star anise, sumac, thyme, turmeric, vanilla, white pepper, za'atar
""")
_VEGETABLES = listed("""
    arugula, asparagus, bamboo shoot, beetroot, bell pepper, bok choy, brussels sprouts, cabbage, carrot, cassava, cauliflower
    celeriac, celery, chicory, collard greens, corn, cucumber, daikon, eggplant, endive, garlic, green beans, jicama, kale
    kohlrabi, leek, lettuce, napa cabbage, okra, onion, parsnip, peas, potato, pumpkin, radish, romanesco, rutabaga, scallion
    shallot, snow peas, spinach, sweet potato, taro, tomato, turnip, watercress, yam, zucchini
""")
fruit = drawn(_FRUITS)
ingredient = drawn(tuple(dict.fromkeys(_STAPLES + _FRUITS + _VEGETABLES + _SPICES + _MEATS)))
meat = drawn(_MEATS)
spice = drawn(_SPICES)
vegetable = drawn(_VEGETABLES)


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
