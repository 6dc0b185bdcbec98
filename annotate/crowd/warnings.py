"""Warnings in words, each with its reason and its numbers."""

from annotate.figures import Row, word

#: Warnings that say: this is no judging.
SPAM = frozenset({"random", "constant", "copier"})

#: A warning in a word.
SHORT = {
    "random": "random?",
    "constant": "one grade only?",
    "copier": "copies?",
    "gold": "fails gold",
    "kappa": "low agreement",
    "pnoise": "noisy",
    "lean": "leans",
    "drift": "drifts",
    "stray": "drifts",
    "fast": "very fast",
}


def sentence(warning: Row, called: dict[int, str]) -> str:
    """The reason of a warning, with its numbers."""
    code, value, n = warning["code"], warning["value"], warning["n"]
    if code == "random":
        usual = warning["expected"]
        return (
            f"Grades like chance: correlation {value:.2f} with the others over {n} pairs, where "
            f"{usual:.2f} is usual."
        )
    if code == "constant":
        grade = word(warning["grade"])
        return (
            f"Says {grade} to {100 * value:.0f} % of {n} pairs; others say it to "
            f"{100 * warning['expected']:.0f} % of them."
        )
    if code == "copier":
        other = called.get(warning["other"], "another judge")
        return (
            f"Gives the same grade as {other} on {100 * value:.0f} % of {n} shared pairs, where "
            f"{100 * warning['expected']:.0f} % is to be expected."
        )
    return _plain_sentence(code, value, n, warning.get("expected") or 0.0)


def _plain_sentence(code: str, value: float, n: int, usual: float) -> str:
    high = "higher" if value > 0 else "lower"
    size = f"{abs(value):.1f} grades"
    return {
        "gold": f"{value:.0f} of {n} gold pairs right, where {100 * usual:.0f} % is usual.",
        "kappa": f"Hardly agrees with the others: kappa {value:.2f} over {n} pairs, where "
        f"{usual:.2f} is usual.",
        "pnoise": f"Orders documents unlike the others: pNoise {value:.2f} of {n} preferences.",
        "lean": f"Grades {size} {high} than the others, over {n} pairs.",
        "drift": f"Grades {size} {high} than she used to, over her latest {n} pairs.",
        "stray": f"Strays {size} further from the others than before, over her latest {n} pairs.",
        "fast": f"Takes {value:.0f} s for a pair, where {usual:.0f} s is usual, n = {n}.",
    }[code]
