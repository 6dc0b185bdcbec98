"""The words of the judging page: grades, reasons, and what its script says."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from annotate.models import Refusal
from ranking.grades import Grade


class GradeButton(NamedTuple):
    """One grade as the judging page offers it."""

    value: int
    key: str
    word: Promise
    line: Promise
    definition: Promise


GRADES = (
    GradeButton(
        Grade.PERFECT,
        "5",
        _("Perfect"),
        _("Could not be better."),
        _("The page this query is about; nothing better could come first."),
    ),
    GradeButton(
        Grade.EXCELLENT,
        "4",
        _("Excellent"),
        _("Answers it fully."),
        _("Answers the query fully."),
    ),
    GradeButton(
        Grade.GOOD,
        "3",
        _("Good"),
        _("Useful, partial."),
        _("Useful, but partial or one step away."),
    ),
    GradeButton(
        Grade.FAIR,
        "2",
        _("Fair"),
        _("On topic, little use."),
        _("On the topic, of little use."),
    ),
    GradeButton(
        Grade.BAD,
        "1",
        _("Bad"),
        _("Off topic or broken."),
        _("Off topic, broken or misleading."),
    ),
)
GRADE_WORDS = {grade.value: grade.word for grade in GRADES}

REFUSAL_REASONS = (
    (Refusal.Reason.NOT_LOADED, _("It did not load")),
    (Refusal.Reason.LANGUAGE, _("Wrong language")),
    (Refusal.Reason.LOG_IN, _("It needs a log-in")),
    (Refusal.Reason.UNCLEAR, _("The query is unclear")),
    (Refusal.Reason.UNSAFE, _("Unsafe or offensive")),
    (Refusal.Reason.OTHER, _("Something else")),
)


def script_sentences() -> dict[str, str]:
    """What the script says, in the language of this request. Words in braces are filled in."""
    return {
        "saving": _now("Saving…"),
        "saved": _now("Saved: {word}"),
        "taken_back": _now("Taken back"),
        "passed_on": _now("Passed on to another judge."),
        "unsaved": _now("Not saved yet ({n})"),
        "spoken": _now("Saved: {word}. Pair {done} of {goal}."),
        "spoken_over": _now("Saved: {word}. Pair {done} today."),
        "undone": _now("Taken back. Grade this pair again."),
        "offline": _now("No connection. Your grade is kept here and sent when it is back."),
        "signed_out": _now("You are signed out. Sign in in another tab; your grade is kept here."),
        "forbidden": _now(
            "The server did not accept this page. Reload it; your grade is kept here."
        ),
        "offline_step": _now("No connection. Try again in a moment."),
        "not_taken": _now("Not saved: {reason}"),
        "count": _now("{done} of {goal}"),
        "count_over": _now("{done} today"),
        "pace": _now("Today {done} · goal {goal} · {seconds} s per pair"),
        "pace_short": _now("Today {done} · goal {goal}"),
        "stored_text": _now("Stored text · {words} words"),
        "stored_cut": _now("Stored text · the beginning of {words} words"),
        "no_text": _now("No text is stored for this document. Open it to judge it."),
        "goal": _now("{done} today: your goal is reached. A short break is a good idea."),
        "training": _now("Training · {made} of {needed}"),
        "lesson_right": _now("As expected"),
        "lesson_wrong": _now("Expected another grade"),
        "lesson_word": _now("Expected: {word}"),
        "live": _now("Many sites refuse to be shown here. If it is empty, open it in a new tab."),
        "live_none": _now("This page cannot be shown here. Open it in a new tab."),
        "live_keys": _now("Keys go to the live page now and do not reach us."),
        "live_thief": _now("The live page kept taking the keys, so it was closed."),
        "moved_on": _now("The pair you looked at went to somebody else. Here is another."),
    }
