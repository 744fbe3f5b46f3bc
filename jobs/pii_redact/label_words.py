"""The words with which people name the kind of a number, in lower case.

Whole words are compared. labels.py splits camelCase and snake_case names first.
"""

import enum


class Label(enum.Enum):
    """What a word says about the number after it."""

    PHONE = "phone"
    SSN = "ssn"
    CARD = "card"
    VERSION = "version"
    BARCODE = "barcode"
    """A number with a check digit of its own: ISBN, EAN, IMEI."""
    NUMBER = "number"
    """Some other number: an invoice, a serial number, an id, an offset."""
    SUBJECT = "subject"
    """Something that may have a number ("order number 12"), or be the topic of a call ("orders: 415-555-0132")."""


def _labels(label: Label, words: str) -> dict[str, Label]:
    return dict.fromkeys(words.split(), label)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


LABELS: dict[str, Label] = {
    **_labels(
        Label.PHONE,
        """
        phone phones phoned telephone telephones tel tels tele telno telnr mobile mob cell cellphone cellular
        handphone handset fax faxes telefax call calling ring dial sms mms viber imessage hotline helpline landline
        contact reach pager voicemail switchboard tollfree ph phn phno msisdn callback caller callee phonenumber phoneno
        mobilenumber mobileno cellnumber faxnumber telefon telefonnummer telefonnr rufnummer rufnr ruf fon handy
        handynummer handynr mobil mobilnummer mobilnr mobiltelefon mobilfunk anrufen rufen anruf durchwahl natel
        téléphone téléphones telephoner tél portable gsm appelez appeler teléfono teléfonos telefono telefonos tfno
        móvil movil móviles celular cel llame llamar llámame llamame llámeme llámanos fono telefone telefones fone
        ligue ligar cellulare chiama chiamare telefoon telefoonnummer mobiel bel bellen tlf telefonszám mobilní
        telefonu telefony komórka zadzwoń dzwoń puhelin puhelinnumero puh тел телефон телефона телефону телефоны моб
        мобильный сотовый факс звоните звонить позвоните τηλ τηλέφωνο κινητό φαξ đt sđt thoại
        telemóvel telemovel tlm mobitel telepon telpon telp telefonas tālrunis sími ☎ ☏ ✆ 📞 📱 📲 📠
        """,
    ),
    **_labels(Label.SSN, "ssn ssns ss socsec soc social ssnum socialsecurity"),
    **_labels(
        Label.CARD,
        """
        card cards cc ccn ccnum creditcard debitcard credit debit visa mastercard amex discover diners jcb unionpay maestro uatp
        pan kreditkarte karte kartennummer carte tarjeta carta cartão kaart kort karta
        """,
    ),
    **_labels(
        Label.VERSION,
        """
        version versions ver v release releases firmware build builds revision sdk oid section sections chapter clause
        paragraph appendix annex subsection subclause clauses subclauses chapters § bios chrome chromium firefox safari opera
        """,
    ),
    **_labels(
        Label.BARCODE, "isbn issn ean upc gtin barcode barcodes imei imeis meid iccid iban asin ismn jan doi orcid isni"
    ),
    **_labels(
        Label.NUMBER,
        """
        dhl ups usps fedex dpd gls tnt hermes invoice inv receipt ref refs reference referenz référence referencia tracking awb
        waybill consignment sku skus mpn part serial sn imsi vin batch lot lots po id ids uid uids uuid guid pid userid orderid
        txid txn transaction trx aba sortcode bsb docket patent pmid pmcid arxiv rfc cve cas commit commits merge revert cherry
        sha hash checksum crc timestamp timestamps ts epoch unix unixtime nonce seed offset bytes coordinates coords coordinate
        lat latitude lon lng longitude gps zip zipcode postcode postal plz pincode otp token tokens
        ein tin itin vat tva ust ustid siret siren nip pesel regon cpf cnpj curp rut dni nie nif cif iva piva aadhaar uidai
        gstin abn acn tfn npi ndc mrn nhs medicare sin hkid bsn cpr
        kto blz rma réf bvn oib amka инн огрн
        bestellnummer bestellnr auftragsnummer auftragsnr rechnungsnummer rechnungsnr kundennummer artikelnummer sendungsnummer
        vorgangsnummer aktenzeichen артикул lottery lotto loto euromillions powerball keno jackpot
        """,
    ),
    **_labels(
        Label.SUBJECT,
        """
        order orders ticket tickets case cases account accounts acct customer customers client clients member members membership
        shipment package parcel delivery booking bookings reservation reservations claim claims policy policies contract
        application employee student patient user users file record records total count results subscription purchase payment
        item items product products model quote quotation swift routing registration reg confirmation pnr flight coupon voucher
        code codes pin password passwort key keys plate permit passport passeport reisepass licence license port ports length
        size price prices amount sum subtotal balance population revenue budget score scores page pages pp vol volume figure
        fig table row rows sequence seq index idx job task process thread date dates datum fecha block height
        latency uptime nanos views likes clicks impressions rx qq kunde rechnung bestellung auftrag
        facture factura fattura faktura fatura factuur pedido commande ordine bestelling
        zamówienie заказ заказа счет счёт счета счёта договор договора
        """,
    ),
}

ABBREVIATIONS = {"a/c": Label.SUBJECT, "p/n": Label.NUMBER, "s/n": Label.NUMBER}
"""Two letters with a slash between: account, part and serial number."""

CONNECTORS = _set(
    """
    number numbers num nums no nos nr nrs nummer numéro numero número numer nº n° is are was at on me us you him her them my our
    your his the a an to or and by via be for it its called please now today direct office home work business private daytime
    evening main desk personal primary secondary alternate alternative emergency new old value field security der die das ist
    unter lautet am au al ao le la el es est de du di do il sie mich uns moi nous kom string voice type pref
    """
)
"""Words that may be between a label and its number: "phone number is", "call me at"."""

NUMBERING = _set("number numbers num no nos nr nrs nummer numéro numero número id ids code ref reference # №")
"""With one of these words, a SUBJECT becomes a NUMBER."""

NUMBER_WORDS = _set("number nummer numéro número")
POSSESSIVES = _set("my your our his her their mein meine mon ma mi meu minha mio")
"""Before a NUMBER_WORD, with at most one word between, they mean a phone: "my number is", "our new number"."""

UNSPACED = (
    (Label.PHONE, ("电话", "電話", "手机", "手機", "携帯", "联系", "聯繫", "联络", "連絡", "微信")),
    (Label.PHONE, ("致电", "拨打", "撥打", "传真", "傳真")),
    (Label.PHONE, ("전화", "휴대폰", "핸드폰", "연락처", "팩스", "โทร", "มือถือ", "फ़ोन", "फोन", "मोबाइल", "ফোন")),
    (Label.PHONE, ("טלפון", "נייד", "פקס", "טל", "هاتف", "جوال", "موبايل", "تلفن", "موبایل", "فاكس", "تليفون", "اتصل")),
    (Label.CARD, ("卡号", "カード", "信用卡")),
    (Label.NUMBER, ("订单", "訂單", "单号", "單號", "编号", "編號", "注文", "주문", "הזמנה", "طلب")),
)
"""Labels in scripts without spaces between words, or with joined words. They are searched for inside a word."""

UNSPACED_CONNECTORS = ("号码", "號碼", "番号", "번호", "先", "は", "是", "为", "為", "号", "號", "رقم", "מספר", "नंबर")

NOT_SOCIAL_SECURITY = _set("media network networks networking distancing club event events post posts score")
"""Words that give "social" before them another meaning."""

NOT_A_PHONE = _set("i smart head micro ear mega saxo xylo gramo")
"""Texts that give a "phone" joined to them another meaning."""
