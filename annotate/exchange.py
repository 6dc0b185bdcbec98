"""Names in files whose words are parted by blanks."""

import re
from urllib.parse import quote

_BLANK = re.compile(r"[\s\0]")


def encoded(name: str) -> str:
    """The name without blanks: each is percent-encoded, everything else stays."""
    return _BLANK.sub(lambda blank: quote(blank[0]), name)
