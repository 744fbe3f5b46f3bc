"""faker.music: invented works and performers, drawn apart from each other; genres are real."""

from __future__ import annotations

from jobs.faker import person, titles
from jobs.faker.source import Source, one_of

album = titles.title
song_name = titles.title
genre = one_of("""
    House: Acid, Progressive, Tech, Tropical
    Rock: Alternative, Arena, Blues, Folk, Garage, Gothic, Indie, Industrial, Post, Progressive, Psychedelic, Soft, Space, Surf
    Metal: Alternative, Death, Folk, Glam, Groove, Heavy, Nu, Power, Speed
    Jazz: Free, Gypsy, Latin, Smooth
    Pop: Art, Baroque, Dance, Electro, Indie, Jangle, Latin, Synth
    Folk: Anti, Freak, Neo, Psychedelic
    Blues: Country, Electric, Jump
    Country: Alternative, Classic, Outlaw, Texas
    Techno: Ambient, Detroit, Hard
    Trance: Psychedelic, Vocal
    Hip Hop: Conscious, Crunk, Gangsta, Latin, Old School, West Coast
    Soul: Motown, Neo, Southern
    Punk: Cow, Pop, Ska
    Afrobeat, Blues, Country, Electro, Folk, Hip Hop, Jazz, Latin, Pop, Punk, Rock, Soul, Techno, Trance, Ambient, Bebop
    Big Band, Bluegrass, Boogie-Woogie, Bossa Nova, Britpop, Calypso, Chamber Music, Chillout, Classical, Dancehall, Disco
    Dixieland, Doo-Wop, Drill, Drum and Bass, Dubstep, EDM, Electro Swing, Fado, Funk, Gospel, Gregorian Chant, Grunge
    Hard Bop, Highlife, IDM, Jungle, K-Pop, Klezmer, Lo-Fi, Lullaby, Mbalax, Merengue, Musical Theater, Opera, Polka, R&B
    Ragtime, Reggae, Rockabilly, Rocksteady, Romantic, Salsa, Shoegaze, Ska, Skiffle, Soca, Swing, Synthwave, Tango, Trap
    Trip Hop, Vaporwave, Zouk, Zydeco
""")


def artist(source: Source) -> str:
    """A person, or a band such as ``The Golden Lanterns``: invented."""
    if source.chance(0.5):
        return person.plain_name(source)
    first, second = titles.mood(source), titles.thing(source)
    return source.pick((f"The {first} {second} Band", f"{first} {second}", f"{titles.thing(source)} & {second}"))
