"""Base58: a number in 58 digits, in which each leading zero byte is one digit. Networks differ in the alphabet."""


class Base58:
    """The encoding with one alphabet.

    Args:
        alphabet: 58 characters, the first of which is zero.
    """

    def __init__(self, alphabet: str) -> None:
        self._alphabet = alphabet
        self._digits = {character: digit for digit, character in enumerate(alphabet)}

    def encode(self, raw: bytes) -> str:
        """The text of some bytes."""
        number, text = int.from_bytes(raw, "big"), ""
        while number:
            number, digit = divmod(number, 58)
            text = self._alphabet[digit] + text
        return self._alphabet[0] * (len(raw) - len(raw.lstrip(b"\0"))) + text

    def decode(self, text: str, size: int) -> bytes:
        """The `size` bytes of a text. No two texts have the same bytes.

        Raises:
            ValueError: it is not base58, or of another length.
        """
        if len(text) > size * 2:  # far too long, so it is not decoded
            raise ValueError("too long")
        number = 0
        try:
            for character in text:
                number = number * 58 + self._digits[character]
        except KeyError:
            raise ValueError("not base58") from None
        raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
        zeros = len(text) - len(text.lstrip(self._alphabet[0]))
        if zeros + len(raw) != size:
            raise ValueError("of another length")
        return bytes(zeros) + raw
