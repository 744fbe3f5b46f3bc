"""Invented titles of books, albums and songs. No real author or performer is credited with them."""

from __future__ import annotations

from jobs.faker.source import Source, one_of

mood = one_of("""
    Ancient, Bitter, Blue, Broken, Burning, Crimson, Crooked, Distant, Electric, Empty, Endless, Faded, Final, Forgotten
    Frozen, Gentle, Golden, Half-Lit, Hidden, Hollow, Last, Lonely, Long, Lost, Midnight, Moonlit, Narrow, Neon, Northern
    Paper, Quiet, Restless, Sacred, Scarlet, Secret, Second, Silent, Silver, Slow, Southern, Stolen, Strange, Sweet, Tender
    Thousand-Year, Velvet, Wandering, Wayward, White, Wild, Winter, Yellow
""")
thing = one_of("""
    Arrow, Autumn, Bell, Bird, Bridge, Candle, Circus, City, Coast, Daughter, Dream, Echo, Ember, Fire, Flood, Forest, Garden
    Ghost, Harbor, Heart, Hour, House, Hunter, Island, Journey, Kingdom, Lantern, Letter, Lighthouse, Machine, Map, Mirror
    Moon, Mountain, Night, Ocean, Orchard, Parade, Promise, Railway, Rain, River, Road, Room, Rose, Season, Shadow, Sky, Song
    Sparrow, Star, Station, Stone, Storm, Stranger, Summer, Tide, Tower, Train, Valley, Voice, Water, Window, Wolf, Year
""")


def title(source: Source) -> str:
    """``The Golden Lantern``: invented."""
    first, second = mood(source), thing(source)
    return source.pick((
        f"The {first} {second}",
        f"{first} {second}",
        f"The {second} and the {thing(source)}",
        f"{first} {second}, {mood(source)} {thing(source)}",
        f"A {second} of Your Own",
        f"{second} by {thing(source)}",
        f"Beyond the {first} {second}",
    ))  # fmt: skip
