"""faker.music: well-known works and their performers, drawn apart from each other."""

from __future__ import annotations

from jobs.faker.source import one_of

genre = one_of(
    "Acid House", "Afrobeat", "Ambient", "Bebop", "Bluegrass", "Blues", "Bossa Nova", "Classical", "Country",
    "Dancehall", "Disco", "Drum and Bass", "Dubstep", "Electro", "Folk", "Funk", "Gospel", "Grunge", "Heavy Metal",
    "Hip Hop", "Indie Pop", "Jazz", "K-Pop", "Latin", "Opera", "Pop", "Progressive Rock", "Punk", "R&B", "Reggae",
    "Rock", "Rockabilly", "Salsa", "Ska", "Soul", "Swing", "Synthwave", "Techno", "Trance",
)  # fmt: skip
artist = one_of(
    "ABBA", "Adele", "Aretha Franklin", "Beyoncé", "Billie Holiday", "Björk", "Bob Dylan", "Bob Marley", "Coldplay",
    "Daft Punk", "David Bowie", "Dolly Parton", "Drake", "Ella Fitzgerald", "Elton John", "Fleetwood Mac",
    "Hans Zimmer", "Johnny Cash", "Kraftwerk", "Led Zeppelin", "Louis Armstrong", "Madonna", "Metallica",
    "Miles Davis", "Nina Simone", "Nirvana", "Pink Floyd", "Prince", "Queen", "Radiohead", "Ray Charles", "Rihanna",
    "Stevie Wonder", "Taylor Swift", "The Beatles", "The Rolling Stones", "U2",
)  # fmt: skip
album = one_of(
    "21", "Abbey Road", "Back in Black", "Blue", "Born to Run", "Discovery", "Exile on Main St.", "Graceland",
    "Hounds of Love", "Hotel California", "Innervisions", "Kind of Blue", "London Calling", "Nevermind",
    "OK Computer", "Parallel Lines", "Pet Sounds", "Purple Rain", "Ram", "Ray of Light", "Rumours", "Tapestry",
    "The Dark Side of the Moon", "The Joshua Tree", "The Wall", "Thriller", "Trans-Europe Express", "What's Going On",
)  # fmt: skip
song_name = one_of(
    "A Day in the Life", "At Last", "Billie Jean", "Blue Suede Shoes", "Bohemian Rhapsody", "Crazy", "Crocodile Rock",
    "Dancing Queen", "Dreams", "Eight Days a Week", "Every Breath You Take", "Fast Car", "Good Vibrations",
    "Hallelujah", "Heroes", "Hey Jude", "Imagine", "Jolene", "Like a Prayer", "Like a Rolling Stone", "My Girl",
    "One", "Purple Haze", "Respect", "Rolling in the Deep", "Smells Like Teen Spirit", "Stand by Me", "Superstition",
    "Waterloo Sunset", "Yesterday",
)  # fmt: skip
