"""Which judgments decided whether others were asked.

Under if-good-k a pair has a second judgment because its first was Good+. That first judgment is no
draw like the others of its pair: it lies high because pairs where it lies low are not there.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotate.reports.reading import Made
from ranking.grades import LEVELS
from ranking.judgments import FloatArray, IntArray
from ranking.others import Others, others
from ranking.schemes import Scheme

#: Of the pairs with a first grade so many have a second judgment: then it is asked for. Fewer come
#: about when a first judge changes her mind.
ASKED = 0.05

Mask = npt.NDArray[np.bool_]


def asked_after(made: Made, scheme: Scheme) -> Mask:
    """After which first grades there is a second judge: by the scheme, or by what was done.

    Judgments that came in a file, or under an earlier scheme, need not follow the scheme of now.
    """
    _, first, size = np.unique(made.pair, return_index=True, return_counts=True)
    grade = made.grade[first]
    pairs = np.bincount(grade, minlength=LEVELS)
    again = np.bincount(grade[size > 1], minlength=LEVELS)
    wanted = np.array([scheme.wants_more([level]) for level in range(LEVELS)])
    return np.asarray(wanted | (again > ASKED * pairs))


def deciding(made: Made, asked: Mask) -> Mask:
    """The first judgment of every pair, where it decided; nothing where all are asked about."""
    found = np.zeros(len(made), dtype=np.bool_)
    if not asked.all():
        found[np.unique(made.pair, return_index=True)[1]] = True
    return found


def against(made: Made, asked: Mask) -> Others:
    """What the others of its pair say, for every judgment that can be held against them.

    A judgment that decided is on neither side, as long as two that did not can be compared: the
    others would lie above everybody. Where a scheme asks for one more only, it is among the others.
    """
    later = ~deciding(made, asked)
    if later.all():
        return others(*made.rows)
    part = others(*made.only(later).rows)
    if not part.compared.any():
        whole = others(*made.rows)
        return replace(whole, compared=whole.compared & later)
    found = Others(
        np.zeros(len(made), dtype=np.bool_),
        np.zeros(len(made), dtype=np.int64),
        np.full(len(made), np.nan),
        np.full(len(made), -1, dtype=np.int64),
    )
    for name in ("compared", "number", "mean", "majority"):
        getattr(found, name)[later] = getattr(part, name)
    return found


def centred(made: Made, difference: FloatArray, compared: IntArray, asked: Mask) -> FloatArray:
    """How far judgments lie from the others, less what is usual for their place and first grade.

    A first judgment that decided lies above those it led to, whoever gave it, and they below it.
    What a judge has beyond that is her own.
    """
    if asked.all():
        return difference
    _, first, row = np.unique(made.pair, return_index=True, return_inverse=True)
    place = 2 * made.grade[first][row] + deciding(made, asked)
    group = place[compared]
    n = np.maximum(np.bincount(group, minlength=2 * LEVELS), 1)
    usual = np.bincount(group, weights=difference, minlength=2 * LEVELS) / n
    return np.asarray(difference - usual[group])
