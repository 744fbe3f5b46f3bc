"""faker.color: colors in CSS notations. A color of several numbers is a JSON array."""

from __future__ import annotations

from jobs.faker.source import Source, one_of
from jobs.faker.text import as_json

css_supported_function = one_of("rgb", "rgba", "hsl", "hsla", "hwb", "cmyk", "lab", "lch", "color")
css_supported_space = one_of("sRGB", "display-p3", "rec2020", "a98-rgb", "prophoto-rgb")
human = one_of(
    "azure", "black", "blue", "cyan", "fuchsia", "gold", "green", "grey", "indigo", "ivory", "lavender", "lime",
    "magenta", "maroon", "mint green", "olive", "orange", "orchid", "pink", "plum", "purple", "red", "salmon",
    "silver", "sky blue", "tan", "teal", "turquoise", "violet", "white", "yellow",
)  # fmt: skip
space = one_of(
    "ACES", "Adobe RGB", "CIE 1931 XYZ", "CIELAB", "CIELUV", "CMY", "CMYK", "Display-P3", "HSL", "HSLA", "HSLuv",
    "HSV", "HWB", "LMS", "Munsell Color System", "Natural Color System (NCS)", "Pantone Matching System (PMS)",
    "ProPhoto RGB", "RAL", "Rec. 601", "Rec. 709", "Rec. 2020", "Rec. 2100", "RGB", "RGBA", "sRGB", "xvYCC", "YCbCr",
    "YIQ", "YPbPr", "YUV",
)  # fmt: skip


def _number(source: Source, low: float, high: float, decimals: int) -> float:
    value = round(source.rng.uniform(low, high), decimals)
    # JavaScript writes 1 where Python writes 1.0, and 0 for -0.0.
    return int(value) if value == int(value) else value


def rgb(source: Source) -> str:
    """``#rrggbb``."""
    return "#" + source.chars("0123456789abcdef", 6)


def cmyk(source: Source) -> str:
    """Four shares from 0 to 1."""
    return as_json([_number(source, 0, 1, 2) for _ in range(4)])


def hsl(source: Source) -> str:
    """Degrees, then saturation and lightness from 0 to 1."""
    return as_json([source.integer(0, 360), _number(source, 0, 1, 2), _number(source, 0, 1, 2)])


def hwb(source: Source) -> str:
    """Degrees, then whiteness and blackness from 0 to 1."""
    return hsl(source)


def lab(source: Source) -> str:
    """Lightness from 0 to 1, then a and b from -100 to 100."""
    return as_json([_number(source, 0, 1, 6), _number(source, -100, 100, 4), _number(source, -100, 100, 4)])


def lch(source: Source) -> str:
    """Lightness from 0 to 1, chroma from 0 to 230, then degrees."""
    return as_json([_number(source, 0, 1, 6), _number(source, 0, 230, 1), _number(source, 0, 360, 1)])


def color_by_css_color_space(source: Source) -> str:
    """Three shares from 0 to 1 of the sRGB space."""
    return as_json([_number(source, 0, 1, 4) for _ in range(3)])
