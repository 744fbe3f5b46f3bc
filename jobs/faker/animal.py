"""faker.animal: kinds and breeds by their English names.

Birds are those of the American Birding Association's checklist; breeds are those that breed societies and the FAO list.
"""

from __future__ import annotations

from jobs.faker.source import one_of

type_ = one_of("""
    bat, bear, bee, bird, butterfly, camel, cat, cow, crocodile, deer, dog, dolphin, eagle, elephant, fish, flamingo, fox, frog
    giraffe, goat, gorilla, hamster, hippopotamus, horse, kangaroo, koala, lion, lizard, monkey, ostrich, owl, panda, parrot
    peacock, penguin, pig, rabbit, rhinoceros, seal, shark, sheep, snake, squirrel, tiger, turtle, whale, wolf, zebra
""")
bear = one_of("""
    bear: American black, Asian black, Brown, Polar, Sloth, Spectacled, Sun
    Giant panda
""")
bird = one_of("""
    Warbler: Black-throated Gray, Black-throated Green, Blackburnian, Blue-winged, Canada, Cape May, Cerulean, Chestnut-sided
    Warbler: Connecticut, Golden-winged, Grace's, Hermit, Hooded, Kentucky, Kirtland's, MacGillivray's, Magnolia, Nashville
    Warbler: Palm, Orange-crowned, Prairie, Prothonotary, Red-faced, Swainson's, Tennessee, Wilson's, Worm-eating, Yellow
    Warbler: Yellow-rumped, Yellow-throated
    Sparrow: American Tree, Baird's, Black-chinned, Black-throated, Botteri's, Brewer's, Chipping, Clay-colored, Fox
    Sparrow: Golden-crowned, Grasshopper, Harris's, Henslow's, Lark, LeConte's, Lincoln's, Olive, Nelson's, Rufous-crowned
    Sparrow: Saltmarsh, Savannah, Seaside, Song, Vesper, White-crowned
    Gull: California, Franklin's, Glaucous, Glaucous-winged, Great Black-backed, Herring, Iceland, Ivory, Laughing
    Gull: Lesser Black-backed, Little, Ring-billed, Sabine's, Short-billed, Western, Yellow-footed
    Tern: Aleutian, Arctic, Bridled, Caspian, Elegant, Forster's, Gull-billed, Roseate, Royal
    Owl: Barn, Barred, Boreal, Burrowing, Flammulated, Great Gray, Great Horned, Long-eared, Northern Hawk, Snowy, Short-eared
    Owl: Spotted
    Hawk: Broad-winged, Common Black, Ferruginous, Harris's, Red-shouldered, Red-tailed, Rough-legged, Sharp-shinned
    Hawk: Short-tailed, White-tailed, Zone-tailed
    Hummingbird: Allen's, Anna's, Black-chinned, Broad-billed, Calliope, Costa's, Lucifer, Rivoli's, Ruby-throated
    Hummingbird: Violet-crowned
    Woodpecker: Acorn, Arizona, Black-backed, Downy, Golden-fronted, Hairy, Ladder-backed, Lewis's, Nuttall's, Pileated
    Woodpecker: Red-bellied, Red-headed, White-headed
    Sapsucker: Red-breasted, Red-naped, Williamson's, Yellow-bellied
    Flycatcher: Alder, Ash-throated, Brown-crested, Dusky, Dusky-capped, Hammond's, Least, Olive-sided, Scissor-tailed
    Flycatcher: Vermilion, Yellow-bellied
    Kingbird: Cassin's, Couch's, Eastern, Gray, Thick-billed, Western
    Vireo: Bell's, Black-capped, Blue-headed, Cassin's, Philadelphia, Plumbeous, Red-eyed, Warbling, White-eyed
    Vireo: Yellow-throated
    Wren: Cactus, Canyon, Carolina, House, Marsh, Rock, Winter
    Chickadee: Black-capped, Boreal, Carolina, Chestnut-backed, Mexican, Mountain
    Titmouse: Bridled, Oak, Tufted
    Nuthatch: Brown-headed, Pygmy, White-breasted
    Thrush: Bicknell's, Gray-cheeked, Hermit, Swainson's, Varied
    Thrasher: Bendire's, Brown, California, Crissal, Curve-billed, LeConte's, Sage
    Swallow: Barn, Cave, Northern Rough-winged, Tree
    Jay: Blue, Brown, California Scrub, Canada, Florida Scrub, Green, Island Scrub, Pinyon, Steller's
    Grosbeak: Black-headed, Blue, Evening, Pine
    Bunting: Indigo, Lark, Lazuli, McKay's, Painted, Snow
    Oriole: Audubon's, Baltimore, Bullock's, Hooded, Orchard, Scott's
    Blackbird: Red-winged, Rusty, Tricolored, Yellow-headed
    Towhee: California, Canyon, Eastern, Green-tailed, Spotted
    Sandpiper: Baird's, Least, Pectoral, Rock, Semipalmated, Solitary, Stilt, Upland
    Duck: American Black, Harlequin, Long-tailed, Mottled, Ruddy, Wood
    Grebe: Clark's, Eared, Horned, Red-necked, Western
    American Avocet, American Coot, American Goldfinch, American Redstart, American Robin, American Wigeon, American Woodcock
    Anhinga, Atlantic Puffin, Bald Eagle, Belted Kingfisher, Black Phoebe, Black Vulture, Black-necked Stilt, Blue-winged Teal
    Bobolink, Bohemian Waxwing, Bufflehead, Brown Pelican, Brown-headed Cowbird, Bushtit, California Condor, California Quail
    Canada Goose, Cattle Egret, Cedar Waxwing, Chimney Swift, Common Eider, Common Loon, Common Merganser, Common Raven
    Common Yellowthroat, Dark-eyed Junco, Dickcissel, Dunlin, Eastern Bluebird, Eastern Meadowlark, European Starling
    Fish Crow, Gadwall, Glossy Ibis, Golden Eagle, Gray Catbird, Great Blue Heron, Greater Roadrunner, Green Heron, Horned Lark
    House Finch, Limpkin, Mallard, Merlin, Mountain Bluebird, Mourning Dove, Mute Swan, Northern Bobwhite, Northern Cardinal
    Osprey, Northern Flicker, Northern Gannet, Northern Harrier, Northern Pintail, Northern Shoveler, Peregrine Falcon
    Pine Siskin, Piping Plover, Prairie Falcon, Pyrrhuloxia, Razorbill, Red Crossbill, Redhead, Roseate Spoonbill
    Ruffed Grouse, Sanderling, Sandhill Crane, Scarlet Tanager, Snow Goose, Snowy Egret, Sora, Surf Scoter, Swallow-tailed Kite
    Trumpeter Swan, Tundra Swan, Verdin, Turkey Vulture, Western Tanager, Whimbrel, White Ibis, Whooping Crane, Wild Turkey
    Willet, Wood Stork
""")
cat = one_of("""
    Shorthair: American, British, Exotic
    Rex: Cornish, Devon, Selkirk
    Abyssinian, American Wirehair, Balinese, Bengal, Birman, Bombay, Burmese, Chartreux, Egyptian Mau, Havana Brown, Himalayan
    Korat, Kurilian Bobtail, Maine Coon, Manx, Munchkin, Norwegian Forest Cat, Persian, Peterbald, Ragdoll, Russian Blue
    Savannah, Scottish Fold, Siamese, Siberian, Singapura, Sphynx, Thai, Turkish Angora, Turkish Van
""")
cetacean = one_of("""
    Dolphin: Amazon River, Atlantic Spotted, Clymene, Common Bottlenose, Dusky, Fraser's, Heaviside's, Hourglass, La Plata
    Dolphin: Risso's, Pantropical Spotted, Rough-toothed, Spinner, White-beaked
    Whale: Blainville's Beaked, Blue, Bowhead, Cuvier's Beaked, Fin, Gray, Humpback, Killer, Long-finned Pilot, Minke
    Whale: North Atlantic Right, Pygmy Killer, Sei, Short-finned Pilot, Sperm
    Porpoise: Burmeister's, Finless, Harbor
    Beluga, Narwhal, Tucuxi, Vaquita
""")
cow = one_of("""
    Aberdeen Angus, Alentejana, American White Park, Amerifax, Amrit Mahal, Anatolian Black, Angeln, Ankole-Watusi, Arouquesa
    Asturian Mountain, Asturian Valley, Aubrac, Aulie-Ata, Australian Braford, Ayrshire, Australian Lowline, Baladi, Bargur
    Barrosã, Barzona, Bazadaise, Beefalo, Beefmaker, Beefmaster, Belgian Blue, Belgian Red, Belmont Red, Belted Galloway
    Berrenda, Black Baldy, Black Hereford, Blonde d'Aquitaine, Bonsmara, Braford, Brahman, Brahmousin, Brangus, Braunvieh
    British White, Brown Swiss, Busha, Cachena, Canadienne, Canchim, Caracu, Carpathian Brown, Charbray, Charolais, Chianina
    Chillingham, Corriente, Criollo, Dajal, Damascus, Danish Jersey, Danish Red, Deoni, Devon, Dexter, Dhanni, Droughtmaster
    Dutch Belted, Dutch Friesian, East Anatolian Red, English Longhorn, Estonian Red, Evolène, Ferrandaise, Finncattle
    Fleckvieh, Fogera, French Simmental, Friesian, Galician Blond, Galloway, Gaolao, Gascon, Gelbray, Gelbvieh, German Angus
    German Red Pied, Gir, Glan, Gloucester, Groningen, Guernsey, Guzerat, Hallikar, Hariana, Heck, Hereford, Hérens, Highland
    Hinterwald, Holstein, Horro, Hungarian Grey, Icelandic, Illawarra, Irish Moiled, Israeli Holstein, Istrian, Jamaica Hope
    Jamaica Red, Japanese Black, Japanese Brown, Jersey, Kangayam, Kankrej, Kenkatha, Kerry, Kherigarh, Kholmogory
    Krishna Valley, Kuri, Latvian Brown, Limousin, Limpurger, Lincoln Red, Lithuanian Red, Lourdais, Luing, Madurese, Malvi
    Mandalong, Maremmana, Maronesa, Mashona, Meuse-Rhine-Issel, Milking Devon, Milking Shorthorn, Minhota, Mirandesa, Modicana
    Mongolian, Montbéliarde, Morucha, Murboden, Murnau-Werdenfels, Murray Grey, N'Dama, Nagori, Nguni, Nimari, Normande
    Northern Finncattle, Ongole, Norwegian Red, Pajuna, Parthenaise, Piedmontese, Pinzgauer, Podolica, Polish Red
    Polled Hereford, Ponwar, Pulikulam, Pustertaler, Randall, Rathi, Red Angus, Red Brangus, Red Chittagong, Red Fulani
    Red Poll, Red Sindhi, Red Steppe, Reggiana, Rendena, Retinta, Romagnola, Romosinuano, Sahiwal, Salers, Sanga, Sayaguesa
    Santa Gertrudis, Senepol, Shetland, Shorthorn, Simbrah, Simmental, Siri, Slovenian Cika, South Devon, Sussex, Speckle Park
    Swedish Red Polled, Tajima, Telemark, Texas Longhorn, Tharparkar, Tudanca, Tux, Tyrol Grey, Vaynol, Ukrainian Grey
    Umblachery, Vechur, Vestland Fjord, Vianesa, Volinian Beef, Vorderwald, Vosges, Wagyu, Welsh Black, White Park
    Whitebred Shorthorn, Yakutian, Yanbian, Żubroń
""")
crocodilia = one_of("""
    Crocodile: American, Cuban, Dwarf, Freshwater, Hall's New Guinea, Morelet's, Mugger, New Guinea, Nile, Orinoco, Philippine
    Crocodile: Saltwater, Siamese, Slender-snouted, West African
    Caiman: Black, Broad-snouted, Cuvier's Dwarf, Schneider's Dwarf, Spectacled, Yacare
    Alligator: American, Chinese
    Gharial, Tomistoma
""")
dog = one_of("""
    Terrier: American Staffordshire, Australian, Bedlington, Black Russian, Border, Brazilian, Bull, Cairn, Cesky
    Terrier: Dandie Dinmont, English Toy, Irish, Jack Russell, Japanese, Kerry Blue, Lakeland, Manchester, Norfolk
    Terrier: Parson Russell, Patterdale, Rat, Scottish, Sealyham, Silky, Smooth Fox, Soft-coated Wheaten, Tibetan, Welsh
    Terrier: West Highland White, Yorkshire
    Hound: Afghan, Basset, Bavarian Mountain, Estonian, Finnish, Halden, Hanover, Hygen, Pharaoh, Plott, Polish, Posavac
    Hound: Schiller, Serbian, Tyrolean
    Spaniel: American Water, Blue Picardy, Boykin, Cavalier King Charles, Clumber, Cocker, English Springer, French, German
    Spaniel: Irish Water, King Charles, Sussex, Tibetan
    Shepherd: Anatolian, Australian, Belgian, Bergamasco, Bohemian, Carpathian, Caucasian, Dutch, English, East European
    Shepherd: German, King, Miniature Australian, White Swiss
    Sheepdog: Croatian, Icelandic, Old English, Polish Lowland, Portuguese, Pyrenean, South Russian
    Mountain Dog: Bernese, Estrela, Greater Swiss
    Retriever: Chesapeake Bay, Curly-coated, Golden, Labrador
    Setter: English, Gordon, Irish, Irish Red and White
    Pointer: English, German Longhaired, German Shorthaired, Old Danish, Portuguese
    Coonhound: American English, Black and Tan, Bluetick, Redbone
    Bulldog: Alapaha Blue Blood, American, English, French
    Mastiff: English, Neapolitan, Spanish, Tibetan
    Schnauzer: Giant, Miniature, Standard
    Poodle: Miniature, Standard
    Spitz: German, Indian, Japanese
    Laika: East Siberian, Russo-European, Yakutian
    Collie: Bearded, Border, Rough, Smooth
    Corgi: Cardigan Welsh, Pembroke Welsh
    Aidi, Akbash, Akita, Alaskan Klee Kai, Alaskan Malamute, American Foxhound, Ariégeois, Barbet, Basenji, Beagle, Beauceron
    Berger Picard, Bichon Frisé, Billy, Boerboel, Bolognese, Boxer, Briard, Bouvier des Flandres, Bracco Italiano, Brittany
    Broholmer, Brussels Griffon, Bullmastiff, Canaan Dog, Cane Corso, Chihuahua, Chinese Crested, Chinook, Chow Chow
    Cirneco dell'Etna, Coton de Tulear, Dachshund, Czechoslovakian Wolfdog, Dalmatian, Deutsche Bracke, Dobermann
    Dogo Argentino, Drever, Dunker, Dogue de Bordeaux, English Foxhound, Entlebucher, Eurasier, Fila Brasileiro, Galgo Español
    German Pinscher, Great Dane, Greyhound, Harrier, Havanese, Hokkaido, Hovawart, Jindo, Irish Wolfhound, Jämthund, Kai Ken
    Kangal, Karelian Bear Dog, Keeshond, Kelpie, Komondor, Kooikerhondje, Kromfohrländer, Kuvasz, Lagotto Romagnolo
    Lancashire Heeler, Lhasa Apso, Löwchen, Maltese, Miniature Pinscher, Mudi, Newfoundland, Otterhound, Papillon, Pekingese
    Porcelaine, Pomeranian, Portuguese Podengo, Portuguese Water Dog, Pug, Puli, Pumi, Rhodesian Ridgeback, Rottweiler
    Saint Bernard, Saluki, Samoyed, Schapendoes, Schipperke, Shar Pei, Shiba Inu, Shih Tzu, Shikoku, Siberian Husky, Sloughi
    Spanish Water Dog, Spinone Italiano, Swedish Lapphund, Swedish Vallhund, Tornjak, Thai Ridgeback, Tosa, Vizsla
    Volpino Italiano, Weimaraner, Whippet, Xoloitzcuintle
""")
fish = one_of("""
    carp: Black, Common, Grass, Mrigal
    salmon: Atlantic, Chinook, Chum, Coho, Pink
    trout: Brook, Brown, Lake, Rainbow
    tuna: Bluefin, Skipjack, Yellowfin
    cod: Atlantic, Greenland, Saffron
    herring: Araucanian, Atlantic
    anchovy: European, Japanese, Southern African
    mackerel: Atlantic, Indian, Japanese jack
    hake: Argentine, European, Pacific
    Alaska pollock, Albacore, Arctic char, Barramundi, Capelin, Catla, Channel catfish, European pilchard, European plaice
    European sprat, Gulf menhaden, Haddock, Halibut, Largehead hairtail, Milkfish, Monkfish, Nile tilapia, Northern pike
    Pacific saury, Rohu, Sea bass, Swordfish, Turbot, Walleye, Yellow perch, Zander
""")
horse = one_of("""
    Pony: Chincoteague, Connemara, Dales, Dartmoor, Eriskay, Exmoor, Faroe, Fell, Gotland, Highland, Java, Kerry Bog, Manipuri
    Pony: New Forest, Newfoundland, Peneia, Shetland, Skyros, Spiti, Sumba, Timor
    Horse: American Cream Draft, American Paint, American Quarter, Andalusian, Arabian, Belgian Draft, Black Forest, Canadian
    Horse: East Bulgarian, Estonian, Fjord, Friesian, Icelandic, Irish Draught, Jutland, Marwari, Mongolian, Morgan
    Horse: Namib Desert, Nez Perce, North Swedish, Przewalski's, Rocky Mountain, Russian Heavy Draft, Shire
    Horse: Vladimir Heavy Draft
    Warmblood: Bavarian, Belgian, Czech, Danish, Dutch, Hungarian, Slovak, Swedish, Swiss
    Abtenauer, Abyssinian, Akhal-Teke, Altai, Anglo-Arabian, Anglo-Kabarda, Appaloosa, AraAppaloosa, Ardennes, Asturcón
    Auvergne, Auxois, Azteca, Baluchi, Banker, Bardigiano, Bashkir, Bhutia, Brumby, Boulonnais, Brabant, Breton, Budyonny
    Calabrese, Camargue, Cayuse, Choctaw, Cleveland Bay, Clydesdale, Comtois, Corsican, Criollo, Curly, Falabella, Finnhorse
    Fleuve, Frederiksborg, Freiberger, Furioso, Galiceño, Garrano, Gelderland, Giara, Gidran, Groningen, Gypsy Cob, Haflinger
    Hanoverian, Heck, Hispano-Bretón, Holsteiner, Hucul, Jaca Navarra, Jeju, Kabarda, Karabair, Kathiawari, Kiger Mustang
    Kinsky, Knabstrupper, Konik, Kushum, Kustanair, Latvian, Lipizzan, Lokai, Losino, Lusitano, Maremmano, Mangalarga Marchador
    Messara, Misaki, Missouri Fox Trotter, Murgese, Mustang, Nokota, Nonius, Nordland, Noriker, Norman Cob, Oldenburg, Pampa
    Paso Fino, Percheron, Peruvian Paso, Persano, Pleven, Pottok, Quarab, Racking Horse, Retuertas, Sarcidano, Selle Français
    Shagya, Sorraia, Standardbred, Sokolski, Spanish Barb, Suffolk Punch, Tersk, Thoroughbred, Tokara, Tori, Trakehner
    Vlaamperd, Waler, Walkaloosa, Welsh Cob, Westphalian, Wielkopolski, Württemberger, Yakutian, Yili, Yonaguni, Žemaitukas
    Zweibrücker
""")
insect = one_of("""
    ant: Army, Bullet, Carpenter, Fire, Leafcutter, Pavement, Weaver
    bee: Carpenter, Honey, Mason, Orchid, Sweat
    beetle: Asian lady, Click, Colorado potato, Goliath, Ground, Hercules, Japanese, Rhinoceros, Stag, Tiger
    butterfly: Cabbage white, Monarch, Swallowtail
    moth: Atlas, Cecropia, Codling, Hawk, Luna, Winter
    wasp: Cicada killer, Gall, Ichneumon, Potter, Spider
    hornet: Bald-faced, European
    fly: Black, Caddis, Fruit, Horse, Robber, Sand, Tsetse
    cricket: Field, House, Mole
    mosquito: Yellow fever
    Ant lion, Bed bug, Boll weevil, Buff-tailed bumblebee, Common green darner, Damselfly, Dobsonfly, Earwig, Emerald ash borer
    European mantis, Firefly, Giant water bug, Green lacewing, Housefly, Katydid, Mayfly, Painted lady, Praying mantis
    Red admiral, Seven-spot ladybird, Silverfish, Stick insect, Stonefly, Termite, Water strider
""")
lion = one_of("Lion: Asiatic, Barbary, Cape, Masai, Northeast Congo, Transvaal, West African")
pet_name = one_of("""
    Bailey, Bandit, Bella, Biscuit, Buddy, Buster, Charlie, Chloe, Coco, Cooper, Daisy, Duke, Felix, Ginger, Gus, Hazel, Jasper
    Leo, Loki, Lola, Lucy, Luna, Max, Milo, Misty, Molly, Nala, Olive, Oscar, Otis, Pepper, Rocky, Rosie, Ruby, Sadie, Shadow
    Simba, Smokey, Teddy, Toby, Willow, Ziggy
""")
rabbit = one_of("""
    Lop: English, French, Holland, Velveteen
    Angora: English
    Alaska, American, American Chinchilla, Belgian Hare, Blanc de Hotot, Californian, Champagne d'Argent, Checkered Giant
    Cinnamon, Dutch, English Spot, Flemish Giant, Florida White, Harlequin, Havana, Himalayan, Jersey Wooly, Lionhead, Mini Rex
    Mini Satin, Netherland Dwarf, New Zealand, Polish, Rex, Satin, Silver Fox, Silver Marten, Tan, Thrianta
""")
rodent = one_of("""
    squirrel: Arctic ground, California ground, Cape ground, Eastern gray, Eurasian red, Fox, Indian giant, Northern flying
    squirrel: Pallas's, Siberian flying, Southern flying, Thirteen-lined ground
    chipmunk: Eastern, Least, Uinta, Yellow-pine
    marmot: Alpine, Bobak, Himalayan, Hoary, Vancouver Island
    prairie dog: Black-tailed, Gunnison's, Mexican, White-tailed
    mouse: Cactus, Cairo spiny, Deer, Eurasian harvest, House, Meadow jumping, Striped field, White-footed, Wood, Yellow-necked
    rat: Black, Brown, Bush, Gambian pouched, Greater cane, Hispid cotton, Hoary bamboo, Marsh rice, Merriam's kangaroo
    rat: Polynesian
    woodrat: Bushy-tailed, Dusky-footed, Eastern, White-throated
    vole: Bank, Common, European snow, Field, Meadow, Prairie, Red tree, Sagebrush
    lemming: Northern collared, Norway, Southern bog, Steppe, Wood
    hamster: Chinese, Djungarian, European, Golden, Roborovski
    gerbil: Great, Mongolian
    dormouse: Edible, Forest, Garden, Hazel
    porcupine: Brazilian, Cape, Crested, Indian crested, Malayan
    chinchilla: Long-tailed, Short-tailed
    agouti: Azara's, Mexican, Red-rumped
    gopher: Botta's pocket, Northern pocket
    beaver: American, Eurasian
    Capybara, Coypu, Degu, Groundhog, Guinea pig, Naked mole-rat, Lowland paca, Muskrat, Patagonian mara, Plains viscacha
    Springhare
""")
snake = one_of("""
    python: African rock, Ball, Blood, Boelen's, Borneo, Burmese, Carpet, Centralian, Children's, Diamond, Green tree, Indian
    python: Olive, Pygmy, Reticulated, Rough-scaled, Spotted, Timor, White-lipped
    boa: Amazon tree, Arabian sand, Calabar, Cuban, Dominican, Dumeril's, Emerald tree, Hispaniolan, Jamaican
    boa: Madagascar ground, Madagascar tree, Puerto Rican, Rainbow, Rosy, Rough-scaled sand, Rubber, Viper
    rattlesnake: Arizona black, Black-tailed, Eastern diamondback, Grand Canyon, Great Basin, Hopi, Midget faded, Mojave
    rattlesnake: Northern Pacific, Pygmy, Red diamond, Ridge-nosed, Rock, Santa Catalina, Southern Pacific, Tiger, Timber
    rattlesnake: Twin-spotted, Western diamondback
    viper: Asp, Bush, Desert horned, Eyelash, Fea's, Gaboon, Hairy bush, Himalayan pit, Hump-nosed, Levant, Malabar pit
    viper: Malayan pit, Mangrove pit, Meadow, Milos, Nose-horned, Ottoman, Palestine, Pope's pit, Rhinoceros, Russell's
    viper: Saw-scaled, Usambara bush, Wagler's pit, White-lipped pit
    cobra: Andaman, Arabian, Black-necked spitting, Caspian, Egyptian, Forest, Indian, King, Monocled, Mozambique spitting
    cobra: Philippine, Red spitting, Samar, Snouted, Zebra spitting
    mamba: Black, Eastern green, Jameson's, Western green
    coral snake: Amazonian, Arizona, Brazilian, Eastern, Texas
    sea snake: Annulated, Beaked, Dubois', Elegant, Horned, Olive, Spine-bellied, Turtle-headed, Yellow-bellied
    krait: Banded, Common, Malayan, Many-banded, Red-headed, Yellow-lipped sea
    kingsnake: California, Desert, Eastern, Florida, Gray-banded, Mole, Sonoran mountain, Speckled
    milk snake: Eastern, Honduran, Mexican, Nelson's, Pueblan, Red, Sinaloan, Western
    rat snake: Baird's, Black, Gray, Great Plains, Green, Japanese, King, Mandarin, Oriental, Persian, Steppe, Texas
    rat snake: Trans-Pecos, Yellow
    garter snake: Aquatic, Black-necked, Butler's, Checkered, Common, Eastern, Giant, Mexican, Plains, Red-sided, Wandering
    garter snake: San Francisco, Short-headed
    water snake: Banded, Diamondback, Harter's, Northern, Plain-bellied, Salt marsh, Southern
    hognose snake: Eastern, Southern, Western
    pine snake: Black, Florida, Louisiana, Northern
    gopher snake: Cape, Great Basin, Pacific, San Diego, Sonoran
    whip snake: Algerian, Balkan, Dahl's, Green, Horseshoe, Yellow-faced
    cat snake: Common, European, Many-spotted
    vine snake: Brown, Green, Long-nosed, Savanna
    death adder: Desert, Northern, Pilbara
    brown snake: Dekay's, Eastern, Ringed, Speckled, Western
    taipan: Coastal, Inland, Papuan
    anaconda: Bolivian, Dark-spotted, Green, Yellow
    Adder, Aesculapian snake, African egg-eater, Bandy-bandy, Black racer, Boa constrictor, Boomslang, Coachwhip, Bushmaster
    Common lancehead, Copperhead, Corn snake, Cottonmouth, Dugite, Fer-de-lance, Habu, Glossy snake, Golden lancehead
    Grass snake, Jararaca, Lyre snake, Mamushi, Massasauga, Mud snake, Mulga snake, Paradise flying snake, Puff adder
    Queen snake, Rainbow snake, Red-bellied black snake, Rinkhals, Ringneck snake, Urutu, Rough green snake, Scarlet snake
    Sidewinder, Smooth green snake, Smooth snake, Sunbeam snake, Tentacled snake, Terciopelo, Tiger snake, Worm snake
""")
