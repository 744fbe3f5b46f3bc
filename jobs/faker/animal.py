"""faker.animal: kinds and breeds by their English names."""

from __future__ import annotations

from jobs.faker.source import one_of

type_ = one_of(
    "bat", "bear", "bee", "bird", "butterfly", "camel", "cat", "cow", "crocodile", "deer", "dog", "dolphin", "eagle",
    "elephant", "fish", "flamingo", "fox", "frog", "giraffe", "goat", "gorilla", "hamster", "hippopotamus", "horse",
    "kangaroo", "koala", "lion", "lizard", "monkey", "ostrich", "owl", "panda", "parrot", "peacock", "penguin", "pig",
    "rabbit", "rhinoceros", "seal", "shark", "sheep", "snake", "squirrel", "tiger", "turtle", "whale", "wolf",
    "zebra",
)  # fmt: skip
bear = one_of(
    "American black bear", "Asian black bear", "Brown bear", "Giant panda", "Polar bear", "Sloth bear",
    "Spectacled bear", "Sun bear",
)  # fmt: skip
bird = one_of(
    "American Robin", "Bald Eagle", "Barn Owl", "Barn Swallow", "Black-capped Chickadee", "Blue Jay", "Canada Goose",
    "Cedar Waxwing", "Common Loon", "Common Raven", "Great Blue Heron", "Herring Gull", "House Finch", "House Wren",
    "Mallard", "Mourning Dove", "Northern Cardinal", "Osprey", "Peregrine Falcon", "Pileated Woodpecker",
    "Ruby-throated Hummingbird", "Sandhill Crane", "Snow Bunting", "Song Sparrow", "Wild Turkey", "Yellow Warbler",
)  # fmt: skip
cat = one_of(
    "Abyssinian", "American Shorthair", "Balinese", "Bengal", "Birman", "Bombay", "British Shorthair", "Burmese",
    "Chartreux", "Cornish Rex", "Devon Rex", "Egyptian Mau", "Korat", "Maine Coon", "Manx", "Norwegian Forest Cat",
    "Persian", "Ragdoll", "Russian Blue", "Scottish Fold", "Siamese", "Siberian", "Singapura", "Sphynx",
    "Turkish Angora",
)  # fmt: skip
cetacean = one_of(
    "Amazon River Dolphin", "Atlantic Spotted Dolphin", "Beluga", "Blue Whale", "Bowhead Whale",
    "Common Bottlenose Dolphin", "Dusky Dolphin", "Fin Whale", "Gray Whale", "Harbor Porpoise", "Humpback Whale",
    "Killer Whale", "Minke Whale", "Narwhal", "Pygmy Killer Whale", "Risso's Dolphin", "Sei Whale", "Sperm Whale",
    "Spinner Dolphin", "Vaquita",
)  # fmt: skip
cow = one_of(
    "Aberdeen Angus", "Ayrshire", "Belgian Blue", "Brahman", "Brown Swiss", "Charolais", "Chianina", "Dexter",
    "Galloway", "Gelbvieh", "Guernsey", "Hereford", "Highland", "Holstein", "Jersey", "Limousin", "Longhorn",
    "Red Poll", "Shorthorn", "Simmental", "Texas Longhorn", "Wagyu",
)  # fmt: skip
crocodilia = one_of(
    "African Slender-snouted Crocodile", "American Alligator", "American Crocodile", "Black Caiman",
    "Broad-snouted Caiman", "Chinese Alligator", "Cuban Crocodile", "Cuvier's Dwarf Caiman", "Dwarf Crocodile",
    "Freshwater Crocodile", "Gharial", "Mugger Crocodile", "Nile Crocodile", "Orinoco Crocodile",
    "Philippine Crocodile", "Saltwater Crocodile", "Siamese Crocodile", "Spectacled Caiman", "Tomistoma",
    "Yacare Caiman",
)  # fmt: skip
dog = one_of(
    "Afghan Hound", "Akita", "Australian Shepherd", "Basset Hound", "Beagle", "Bernese Mountain Dog", "Border Collie",
    "Boxer", "Bulldog", "Cavalier King Charles Spaniel", "Chihuahua", "Cocker Spaniel", "Corgi", "Dachshund",
    "Dalmatian", "German Shepherd", "Golden Retriever", "Great Dane", "Greyhound", "Irish Setter",
    "Jack Russell Terrier", "Labrador Retriever", "Newfoundland", "Pointer", "Pomeranian", "Poodle", "Pug",
    "Rottweiler", "Saint Bernard", "Samoyed", "Shiba Inu", "Siberian Husky", "Vizsla", "Weimaraner", "Whippet",
    "Yorkshire Terrier",
)  # fmt: skip
fish = one_of(
    "Alaska pollock", "Atlantic cod", "Atlantic herring", "Atlantic mackerel", "Atlantic salmon", "Bluefin tuna",
    "Brook trout", "Capelin", "Chum salmon", "Common carp", "European anchovy", "European sprat", "Haddock",
    "Halibut", "Largehead hairtail", "Nile tilapia", "Northern pike", "Pacific hake", "Pink salmon", "Rainbow trout",
    "Sea bass", "Skipjack tuna", "Swordfish", "Yellowfin tuna",
)  # fmt: skip
horse = one_of(
    "Akhal-Teke", "American Quarter Horse", "Andalusian Horse", "Appaloosa", "Arabian Horse", "Belgian Horse",
    "Camargue Horse", "Cleveland Bay", "Clydesdale", "Connemara Pony", "Friesian Horse", "Haflinger", "Hanoverian",
    "Icelandic Horse", "Lipizzan", "Morgan Horse", "Mustang", "Percheron", "Shetland Pony", "Shire Horse",
    "Thoroughbred", "Trakehner", "Welsh Cob",
)  # fmt: skip
insect = one_of(
    "Ant lion", "Asian lady beetle", "Bald-faced hornet", "Buff-tailed bumblebee", "Carpenter ant",
    "Cicada killer wasp", "Common green darner", "Earwig", "Emerald ash borer", "European mantis", "Fire ant",
    "Firefly", "Honey bee", "House cricket", "Housefly", "Japanese beetle", "Leafcutter ant", "Luna moth", "Mayfly",
    "Monarch butterfly", "Painted lady", "Pavement ant", "Praying mantis", "Rhinoceros beetle", "Silverfish",
    "Stag beetle", "Water strider",
)  # fmt: skip
lion = one_of(
    "Asiatic Lion", "Barbary Lion", "Cape Lion", "Masai Lion", "Northeast Congo Lion", "Transvaal Lion",
    "West African Lion",
)  # fmt: skip
pet_name = one_of(
    "Bailey", "Bandit", "Bella", "Biscuit", "Buddy", "Buster", "Charlie", "Chloe", "Coco", "Cooper", "Daisy", "Duke",
    "Felix", "Ginger", "Gus", "Hazel", "Jasper", "Leo", "Loki", "Lola", "Lucy", "Luna", "Max", "Milo", "Misty",
    "Molly", "Nala", "Olive", "Oscar", "Otis", "Pepper", "Rocky", "Rosie", "Ruby", "Sadie", "Shadow", "Simba",
    "Smokey", "Teddy", "Toby", "Willow", "Ziggy",
)  # fmt: skip
rabbit = one_of(
    "American", "American Chinchilla", "Belgian Hare", "Blanc de Hotot", "Californian", "Champagne d'Argent",
    "Cinnamon", "Dutch", "English Angora", "English Lop", "English Spot", "Flemish Giant", "Florida White",
    "French Lop", "Harlequin", "Havana", "Himalayan", "Holland Lop", "Jersey Wooly", "Lionhead", "Mini Rex",
    "Netherland Dwarf", "New Zealand", "Polish", "Rex", "Satin", "Silver Fox", "Silver Marten", "Tan",
)  # fmt: skip
rodent = one_of(
    "African giant pouched rat", "Alpine marmot", "American beaver", "Bank vole", "Brown rat", "Bushy-tailed woodrat",
    "Capybara", "Coypu", "Crested porcupine", "Degu", "Deer mouse", "Eastern chipmunk", "Eastern gray squirrel",
    "Edible dormouse", "Eurasian harvest mouse", "Golden hamster", "Groundhog", "Guinea pig", "House mouse",
    "Long-tailed chinchilla", "Mexican agouti", "Muskrat", "Naked mole-rat", "Norway lemming", "Red squirrel",
)  # fmt: skip
snake = one_of(
    "Adder", "African rock python", "Amazon tree boa", "Ball python", "Black mamba", "Black rat snake",
    "Boa constrictor", "Burmese python", "Coachwhip", "Copperhead", "Corn snake", "Cottonmouth",
    "Eastern coral snake", "Gaboon viper", "Garter snake", "Grass snake", "Green anaconda", "Green tree python",
    "Hognose snake", "King cobra", "Milk snake", "Puff adder", "Reticulated python", "Rosy boa", "Sidewinder",
    "Smooth snake", "Taipan", "Tiger snake", "Western diamondback",
)  # fmt: skip
