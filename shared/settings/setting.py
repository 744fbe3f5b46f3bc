"""What everything that reads settings shares: the prefix of their names, and the error."""

PREFIX = "COINSLOT_"


class InvalidSetting(ValueError):
    """A setting cannot be used as it is. The text names it and says what it takes."""
