"""Which key does what on the judging page, and what a judge may choose instead.

What is stored is data of hers, to be shown to her again: it is checked when it comes and once more
when it is read.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class Step(NamedTuple):
    """Something that one key does."""

    key: str
    words: Promise


#: By the names under which choices are stored.
STEPS: dict[str, Step] = {
    "grade-4": Step("5", _("Perfect")),
    "grade-3": Step("4", _("Excellent")),
    "grade-2": Step("3", _("Good")),
    "grade-1": Step("2", _("Fair")),
    "grade-0": Step("1", _("Bad")),
    "undo": Step("u", _("Undo: take the last grade back")),
    "recent": Step("r", _("Recent: your last grades, and how to change them")),
    "refuse": Step("s", _("Cannot judge: then 1 to 6 for the reason")),
    "open": Step("o", _("Open the document in a new tab")),
    "live": Step("l", _("Live page, and back to the text")),
    "comment": Step("c", _("Write a comment; Esc leaves it")),
    "guidelines": Step("g", _("Guidelines")),
    "help": Step("?", _("All keys")),
}
DEFAULTS = {name: step.key for name, step in STEPS.items()}


class KeysError(ValueError):
    """What is wrong with a choice of keys, in a sentence for whoever made it."""


def chosen(stored: Any) -> dict[str, str]:
    """The key of every step: hers where she chose one, ours otherwise."""
    try:
        return DEFAULTS | checked(stored)
    except KeysError:  # written by something else: then nothing of it counts
        return dict(DEFAULTS)


def checked(wanted: Any) -> dict[str, str]:
    """What differs from ours, and nothing else: one printable character a step, each used once."""
    if not isinstance(wanted, Mapping) or not wanted.keys() <= STEPS.keys():
        raise KeysError(gettext("There is no such step."))
    keys = {name: _key(value) for name, value in wanted.items()}
    whole = DEFAULTS | keys
    twice = {key for key in whole.values() if list(whole.values()).count(key) > 1}
    if twice:
        said = {"key": min(twice).upper()}
        raise KeysError(gettext("Every step must have a key of its own. %(key)s has two.") % said)
    return {name: key for name, key in keys.items() if key != DEFAULTS[name]}


def _key(value: Any) -> str:
    key = value.lower() if isinstance(value, str) else ""
    if len(key) != 1 or not key.isprintable() or key.isspace():
        raise KeysError(gettext("A key must be one character that can be seen."))
    return key
