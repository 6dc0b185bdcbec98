"""The words of the judging page: grades, reasons, and what its script says."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext
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
        "saving": gettext("Saving…"),
        "saved": gettext("Saved: {word}"),
        "taken_back": gettext("Taken back"),
        "passed_on": gettext("Passed on to another judge."),
        "unsaved": gettext("Not saved yet ({n})"),
        "spoken": gettext("Saved: {word}. Pair {done} of {goal}."),
        "spoken_over": gettext("Saved: {word}. Pair {done} today."),
        "undone": gettext("Taken back. Grade this pair again."),
        "offline": gettext("No connection. Your grade is kept here and sent when it is back."),
        "signed_out": gettext(
            "You are signed out. Sign in in another tab; your grade is kept here."
        ),
        "forbidden": gettext(
            "The server did not accept this page. Reload it; your grade is kept here."
        ),
        "offline_step": gettext("No connection. Try again in a moment."),
        "not_taken": gettext("Not saved: {reason}"),
        "count": gettext("{done} of {goal}"),
        "count_over": gettext("{done} today"),
        "pace": gettext("Today {done} · goal {goal} · {seconds} s per pair"),
        "pace_short": gettext("Today {done} · goal {goal}"),
        "stored_text": gettext("Stored text · {words} words"),
        "stored_cut": gettext("Stored text · the beginning of {words} words"),
        "no_text": gettext("No text is stored for this document. Open it to judge it."),
        "goal": gettext("{done} today: your goal is reached. A short break is a good idea."),
        "training": gettext("Training · {made} of {needed}"),
        "lesson_right": gettext("As expected"),
        "lesson_wrong": gettext("Expected another grade"),
        "lesson_word": gettext("Expected: {word}"),
        "live": gettext(
            "Many sites refuse to be shown here. If it is empty, open it in a new tab."
        ),
        "live_none": gettext("This page cannot be shown here. Open it in a new tab."),
        "live_keys": gettext("Keys go to the live page now and do not reach us."),
        "live_thief": gettext("The live page kept taking the keys, so it was closed."),
        "moved_on": gettext("The pair you looked at went to somebody else. Here is another."),
    }
