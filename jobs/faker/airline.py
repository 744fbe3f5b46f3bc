"""faker.airline: air travel. What has a name and a code is a JSON object; the codes are IATA's."""

from __future__ import annotations

from jobs.faker.source import Source, gives, listed, one_of, signs
from jobs.faker.text import as_json

_AIRLINES = listed("""
    Airlines: A3 Aegean, AS Alaska, AA American, OS Austrian, MU China Eastern, CZ China Southern, CM Copa, ET Ethiopian
    Airlines: F9 Frontier, HU Hainan, HA Hawaiian, JL Japan, LA LATAM, LO LOT Polish, ME Middle East, SQ Singapore
    Airlines: WN Southwest, UL SriLankan, TK Turkish, UA United, VN Vietnam
    Airways: NH All Nippon, PG Bangkok, BA British, FJ Fiji, B6 JetBlue, KQ Kenya, QR Qatar, SA South African, TG Thai
    EI Aer Lingus, AR Aerolineas Argentinas, AM Aeromexico, G9 Air Arabia, AC Air Canada, CA Air China, AF Air France
    AI Air India, MK Air Mauritius, NZ Air New Zealand, AV Avianca, CX Cathay Pacific, DL Delta Air Lines, LY El Al
    EK Emirates, EW Eurowings, AY Finnair, G3 Gol, IB Iberia, FI Icelandair, JQ Jetstar, KL KLM, KE Korean Air, LH Lufthansa
    LG Luxair, WY Oman Air, QF Qantas, RJ Royal Jordanian, FR Ryanair, SV Saudia, TP TAP Air Portugal, HV Transavia
    VA Virgin Australia, VY Vueling, W6 Wizz Air, MF XiamenAir, BT airBaltic, U2 easyJet
""")
_AIRPLANES = listed("""
    AT7 ATR 72, 221 Airbus A220-100, 223 Airbus A220-300, 310 Airbus A310, 318 Airbus A318, 319 Airbus A319, 31N Airbus A319neo
    320 Airbus A320, 321 Airbus A321, 32Q Airbus A321neo, 332 Airbus A330-200, 333 Airbus A330-300, 338 Airbus A330-800neo
    342 Airbus A340-200, 343 Airbus A340-300, 345 Airbus A340-500, 351 Airbus A350-1000, 359 Airbus A350-900
    388 Airbus A380-800, ANF Antonov An-12, A4F Antonov An-124, AN4 Antonov An-24, A28 Antonov An-28, A30 Antonov An-30
    AN7 Antonov An-72, AR1 Avro RJ100, AR7 Avro RJ70, 141 BAe 146-100, 143 BAe 146-300, 703 Boeing 707, 717 Boeing 717
    7MJ Boeing 737 MAX 10, 7M7 Boeing 737 MAX 7, 7M8 Boeing 737 MAX 8, 732 Boeing 737-200, 734 Boeing 737-400
    735 Boeing 737-500, 73G Boeing 737-700, 738 Boeing 737-800, 739 Boeing 737-900, 741 Boeing 747-100, 743 Boeing 747-300
    744 Boeing 747-400, 748 Boeing 747-8, 752 Boeing 757-200, 753 Boeing 757-300, 763 Boeing 767-300, 772 Boeing 777-200
    77L Boeing 777-200LR, 77W Boeing 777-300ER, 781 Boeing 787-10, 788 Boeing 787-8, 789 Boeing 787-9
    CR1 Canadair Regional Jet 100, CRK Canadair Regional Jet 1000, CR2 Canadair Regional Jet 200, CR9 Canadair Regional Jet 900
    DH7 De Havilland Canada DHC-7, DH1 De Havilland Canada DHC-8-100, DH3 De Havilland Canada DHC-8-300
    DH4 De Havilland Canada DHC-8-400, D95 Douglas DC-9-50, E70 Embraer 170, E75 Embraer 175, E90 Embraer 190
    290 Embraer 190-E2, E95 Embraer 195, 295 Embraer 195-E2, ERD Embraer RJ140, ER4 Embraer RJ145, 100 Fokker 100
    F70 Fokker 70, IL6 Ilyushin Il-62, IL7 Ilyushin Il-76, M81 McDonnell Douglas MD-81, M83 McDonnell Douglas MD-83
    M87 McDonnell Douglas MD-87, M90 McDonnell Douglas MD-90, S20 Saab 2000, SF3 Saab 340, TU3 Tupolev Tu-134
    TU5 Tupolev Tu-154, YK4 Yakovlev Yak-40, YK2 Yakovlev Yak-42
""")
_AIRPORTS = listed("""
    Airport: AKL Auckland, PEK Beijing Capital, BER Berlin Brandenburg, BNE Brisbane, BUD Budapest Ferenc Liszt, CPH Copenhagen
    Airport: DUB Dublin, EDI Edinburgh, FRA Frankfurt, HND Haneda, HEL Helsinki, IST Istanbul, LIS Lisbon, LGW London Gatwick
    Airport: LHR London Heathrow, MEL Melbourne, MXP Milan Malpensa, MUC Munich, CDG Paris Charles de Gaulle, PER Perth
    Airport: FCO Rome Fiumicino, SIN Singapore Changi, ARN Stockholm Arlanda, BKK Suvarnabhumi, SYD Sydney, WAW Warsaw Chopin
    Airport: ZRH Zurich
    International Airport: ATH Athens, CAI Cairo, CPT Cape Town, CLT Charlotte Douglas, BOM Chhatrapati Shivaji Maharaj
    International Airport: DFW Dallas Fort Worth, DEN Denver, DXB Dubai, EZE Ezeiza, DOH Hamad, LAS Harry Reid
    International Airport: ATL Hartsfield-Jackson Atlanta, HKG Hong Kong, ICN Incheon, JFK John F. Kennedy, NBO Jomo Kenyatta
    International Airport: LIM Jorge Chávez, KEF Keflavík, KUL Kuala Lumpur, LAX Los Angeles, MIA Miami, YUL Montréal-Trudeau
    International Airport: NRT Narita, ORD O'Hare, MCO Orlando, PHX Phoenix Sky Harbor, SFO San Francisco, SCL Santiago
    International Airport: SEA Seattle-Tacoma, PVG Shanghai Pudong, TPE Taiwan Taoyuan, YYZ Toronto Pearson, YVR Vancouver
    International Airport: VIE Vienna, IAD Washington Dulles
    AMS Amsterdam Airport Schiphol, OSL Oslo Airport Gardermoen
""")

record_locator = signs(
    "ABCDEFGHJKLMNPQRSTUVWXYZ", 6, "Six capital letters; I and O are left out, as they are read as digits."
)
aircraft_type = one_of("narrowbody, regional, widebody")


def _named(source: Source, values: tuple[str, ...], code: str) -> str:
    value, _, name = source.pick(values).partition(" ")
    return as_json({"name": name, code: value})


def airline(source: Source) -> str:
    """``{"name":"Air China","iataCode":"CA"}``."""
    return _named(source, _AIRLINES, "iataCode")


def airplane(source: Source) -> str:
    """``{"name":"Airbus A320","iataTypeCode":"320"}``."""
    return _named(source, _AIRPLANES, "iataTypeCode")


def airport(source: Source) -> str:
    """``{"name":"Dublin Airport","iataCode":"DUB"}``."""
    return _named(source, _AIRPORTS, "iataCode")


def flight_number(source: Source) -> str:
    """One to four digits, the first not 0; every length as likely as the next."""
    length = source.integer(1, 4)
    return str(source.integer(10 ** (length - 1), 10**length - 1))


seat = gives(
    "Of a narrowbody: row 1 to 35, A to F.", lambda source: f"{source.integer(1, 35)}{source.chars('ABCDEF', 1)}"
)
