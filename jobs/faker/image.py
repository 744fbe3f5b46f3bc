"""faker.image: addresses of pictures, all on example domains: the paths are those that faker-js gives, the hosts are not,
because ours must not make a caller's page fetch from somebody. A data URI is a complete small SVG.
"""

import base64
import string
from urllib.parse import quote

from jobs.faker.source import Source, gives


def _size(source: Source) -> tuple[int, int]:
    return source.integer(1, 3999), source.integer(1, 3999)


avatar_git_hub = gives(
    "``https://avatars.example.com/u/30531067``.",
    lambda source: f"https://avatars.example.com/u/{source.integer(0, 100_000_000)}",
)
person_portrait = gives(
    "``https://portraits.example.com/female/512/59.jpg``.",
    lambda source: f"https://portraits.example.com/{source.pick(('female', 'male'))}/512/{source.integer(0, 99)}.jpg",
)
avatar = gives(
    "As `avatarGitHub` or as `personPortrait`.", lambda source: source.pick((avatar_git_hub, person_portrait))(source)
)


def url(source: Source) -> str:
    """``https://picsum.example.com/seed/b4eN2AZRw3/2671/2373``: width and height from 1 to 3999."""
    width, height = _size(source)
    seed = source.chars(string.ascii_letters + string.digits, source.integer(5, 10))
    return f"https://picsum.example.com/seed/{seed}/{width}/{height}"


def url_picsum_photos(source: Source) -> str:
    """As `url`, and half of them ask for grey or blur."""
    effect = source.pick(("", "", "?grayscale", f"?blur={source.integer(1, 10)}"))
    return url(source) + effect


def url_lorem_flickr(source: Source) -> str:
    """``https://loremflickr.example.com/2025/2536?lock=638900604297251``."""
    width, height = _size(source)
    return f"https://loremflickr.example.com/{width}/{height}?lock={source.integer(0, 2**53 - 1)}"


def data_uri(source: Source) -> str:
    """An SVG of one color with its size written on it, URI-encoded or base64; below 600 characters."""
    width, height = _size(source)
    fill = "#" + source.chars("0123456789abcdef", 6)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{width}" height="{height}">'
        f'<rect width="100%" height="100%" fill="{fill}"/>'
        f'<text x="{width / 2:g}" y="{height / 2:g}" font-size="20" text-anchor="middle" fill="white">{width}x{height}</text>'
        "</svg>"
    )
    if source.chance(0.5):
        return f"data:image/svg+xml;charset=UTF-8,{quote(svg, safe='')}"
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
