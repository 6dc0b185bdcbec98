"""How each judge judges, and what is wrong with it. Reads only."""

from annotate.crowd.figures import figures, judge_figures
from annotate.crowd.people import Judge, disagreements, judge, judges, others_said
from annotate.crowd.warnings import SHORT, sentence

__all__ = [
    "SHORT",
    "Judge",
    "disagreements",
    "figures",
    "judge",
    "judge_figures",
    "judges",
    "others_said",
    "sentence",
]
