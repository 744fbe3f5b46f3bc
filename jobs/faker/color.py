"""faker.color: colors in CSS notations. A color of several numbers is a JSON array."""

import re

from jobs.faker.source import Method, Source, gives, signs
from jobs.faker.text import as_json


def _number(source: Source, low: float, high: float, decimals: int) -> float:
    value = round(source.rng.uniform(low, high), decimals)
    # JavaScript writes 1 where Python writes 1.0, and 0 for -0.0.
    return int(value) if value == int(value) else value


def human(source: Source) -> str:
    """A color by its name in the locale's language: ``light sea green``; in English in it_IT, ja_JP and zh_CN."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", source.fake.color_name()).lower()


def _numbers(text: str, *bounds: tuple[float, float, int]) -> Method:
    """Bounds and decimals of each number."""
    return gives(text, lambda source: as_json([_number(source, *each) for each in bounds]))


rgb = signs("0123456789abcdef", 6, "``#rrggbb``.", before="#")
cmyk = _numbers("Four shares from 0 to 1.", *[(0, 1, 2)] * 4)
hsl = _numbers("Degrees, then saturation and lightness from 0 to 1.", (0, 360, 0), (0, 1, 2), (0, 1, 2))
hwb = _numbers("Degrees, then whiteness and blackness from 0 to 1.", (0, 360, 0), (0, 1, 2), (0, 1, 2))
lab = _numbers("Lightness from 0 to 1, then a and b from -100 to 100.", (0, 1, 6), (-100, 100, 4), (-100, 100, 4))
lch = _numbers("Lightness from 0 to 1, chroma from 0 to 230, then degrees.", (0, 1, 6), (0, 230, 1), (0, 360, 1))
color_by_css_color_space = _numbers("Three shares from 0 to 1 of the sRGB space.", *[(0, 1, 4)] * 3)
