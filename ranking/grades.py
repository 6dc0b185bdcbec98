"""The five grades of relevance and the line between Good+ and Fair-."""

from enum import IntEnum


class Grade(IntEnum):
    """How relevant a document is to a query, from Bad (0) to Perfect (4)."""

    BAD = 0
    FAIR = 1
    GOOD = 2
    EXCELLENT = 3
    PERFECT = 4

    @property
    def word(self) -> str:
        """The name people read: ``Grade.GOOD.word == "Good"``."""
        return self.name.capitalize()


#: The lowest grade of the Good+ half: ``grade >= GOOD`` is Good+, ``grade < GOOD`` is Fair-.
GOOD = Grade.GOOD

#: How many grades there are; confusion matrices are ``LEVELS`` by ``LEVELS``.
LEVELS = len(Grade)
