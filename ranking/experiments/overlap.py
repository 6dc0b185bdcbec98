"""Which judgments to collect, and what to train on: the settings of the overlap study.

``python -m ranking.experiments.overlap --data FOLDER --draws 10 --part table`` puts simulated
judges on the grades of the MSLR sample, trains a ranker on what each setting collects and tests it
on the true grades. Parts: ``table`` (the nine settings, and ours, with their costs), ``sweep``
(if-good-k, k = 2 … 6), ``best-judge``, ``featured`` and ``histogram`` (the five-grade web
judgments, where a truth is known).

Reference: Yang, Mityagin, Svore, Markov, "Collecting high quality overlapping labels at low cost",
SIGIR 2010: tables 1–8, figures 1–6. Its judgments are not public.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking.aggregation import Majority
from ranking.agreement.distribution import DistributionTest, distribution_test
from ranking.experiments.command import Options, parser, progress_line, save, show
from ranking.experiments.dealing import Budgeted
from ranking.experiments.judged import Judged, web_search
from ranking.experiments.letor import (
    DEPTHS,
    EXPECTED,
    TRUE,
    Letor,
    Outcome,
    Trained,
    by_query,
    read_collection,
    train_all,
)
from ranking.experiments.tables import lines
from ranking.grades import GOOD, LEVELS, Grade
from ranking.judgments import FloatArray
from ranking.paying import IfItPays
from ranking.schemes import GoodTillBad, IfGood, IfGoodWeighted, KOverlap, Single
from ranking.simulation import SKILLS
from ranking.wisdom import crowd_curve

#: What each setting trained by LambdaRank and LambdaMART on reached in the study, tables 1 to 5.
NINE = (
    Trained("baseline", Single()),
    Trained("3-overlap", KOverlap(3)),
    Trained("11-overlap", KOverlap(11)),
    Trained("mv3", KOverlap(3), "majority"),
    Trained("mv11", KOverlap(11), "majority"),
    Trained("if-good-3", IfGood(3)),
    Trained("if-good-x3", IfGoodWeighted(3)),
    Trained("highest-3", KOverlap(3), "highest"),
    Trained("good-till-bad", GoodTillBad()),
)
#: The same judgments as if-good-3, made into labels; and no mistake at all.
OURS = (
    Trained("if-good-3, mean", IfGood(3), "mean"),
    Trained("if-good-3, ordinal", IfGood(3), "ordinal"),
    Trained("if-good-3, expected gain", IfGood(3), EXPECTED),
    Trained("true grades", Single(), TRUE),
)
#: What if-it-pays is held against: as cheap and labelled alike, and everything asked three times.
RIVALS = ("if-good-3, mean", "if-good-3, expected gain", "3-overlap")
#: Judges who judged less than this are not featured.
FEWEST = 20
PARTS = ("table", "sweep", "best-judge", "featured", "histogram")


def sweep() -> list[Trained]:
    """if-good-k for k = 2 … 6, trained on all rows and on labels, beside one judgment each."""
    rows = [Trained(f"if-good-{k}", IfGood(k)) for k in range(2, 7)]
    labels = [Trained(f"if-good-{k}, expected gain", IfGood(k), EXPECTED) for k in range(2, 7)]
    return [Trained("baseline", Single()), *rows, *labels]


def paying(data: Letor, skill: str, k: int = 3) -> list[Trained]:
    """if-it-pays steered to what if-good-k costs, and to what 3-overlap costs, beside both."""
    shares = np.bincount(data.y, minlength=LEVELS) / len(data.y)
    confusion = SKILLS[skill] / SKILLS[skill].sum(axis=1, keepdims=True)
    budget = 1 + (k - 1) * float(shares @ confusion[:, GOOD:].sum(axis=1))
    policy = IfItPays(price=0.05, at_once=3)
    equal = Budgeted(round(budget, 4), policy)
    deep = Budgeted(round(budget, 4), IfItPays(price=0.05, k=10, at_once=3))
    return [
        Trained("baseline", Single()),
        Trained("if-good-3", IfGood(k)),
        Trained("if-good-3, mean", IfGood(k), "mean"),
        Trained("if-good-3, expected gain", IfGood(k), EXPECTED),
        Trained("if-it-pays, mean", equal, "mean"),
        Trained("if-it-pays, expected gain", equal, EXPECTED),
        Trained("if-it-pays for NDCG@10, mean", deep, "mean"),
        Trained("if-it-pays for NDCG@10, expected gain", deep, EXPECTED),
        Trained("3-overlap", KOverlap(3)),
        Trained("3-overlap, expected gain", KOverlap(3), EXPECTED),
        Trained("if-it-pays to 3, expected gain", Budgeted(3.0, policy), EXPECTED),
    ]


def table(
    outcomes: dict[str, Outcome], baseline: str = "baseline"
) -> tuple[list[str], list[list[object]]]:
    """Costs and NDCG of every setting; difference and test at the first depth."""
    head = ["setting", "labelling", "training", "Fair- : Good+"]
    head += [f"NDCG@{k}" for k in DEPTHS]
    head += ["standard error", "n", f"against {baseline}", "low", "high", "p", "stars"]
    rows: list[list[object]] = []
    for line in lines(by_query(outcomes), baseline):
        mine = outcomes[line.name]
        means = [float(np.nanmean(mine.units(depth))) for depth in range(len(DEPTHS))]
        costs = [float(mine.cost.mean()), float(mine.training.mean()), float(mine.ratio.mean())]
        test = [line.standard_error, line.n, line.difference, line.low, line.high, line.p]
        rows.append([line.name, *costs, *means, *test, line.stars])
    return head, rows


@dataclass(frozen=True, eq=False)
class Featured:
    """The judge who gives a grade most often: her histogram and that of the consensus."""

    grade: int
    judge: int
    pairs: int
    test: DistributionTest


def featured(judged: Judged, fewest: int = FEWEST) -> list[Featured]:
    """For every grade, Perfect first, the judge with the largest share of it (figure 2).

    The consensus is the majority vote of all judges of the pairs she judged.
    """
    votes = Majority().aggregate(judged.pair, judged.judge, judged.grade).grade
    judges, who = np.unique(judged.judge, return_inverse=True)
    counts = np.zeros((len(judges), LEVELS))
    np.add.at(counts, (who, judged.grade), 1)
    total = counts.sum(axis=1)
    shares = np.where(total[:, None] >= fewest, counts / total[:, None], -1.0)
    found = []
    for grade in reversed(range(LEVELS)):
        place = int(shares[:, grade].argmax())
        mine = who == place
        test = distribution_test(judged.grade[mine], votes[judged.pair[mine]])
        found.append(Featured(grade, int(judges[place]), int(mine.sum()), test))
    return found


def histogram(judged: Judged) -> tuple[FloatArray, FloatArray]:
    """Shares of the grades among judgments and among true grades (figure 3)."""
    said = np.bincount(judged.grade, minlength=LEVELS) / len(judged.grade)
    true = np.bincount(judged.truth, minlength=LEVELS) / len(judged.truth)
    return said, true


def show_web(options: Options, judged: Judged, wanted: Sequence[str]) -> None:
    """Figures 1 to 3 on judgments whose truth is known, as tables."""
    words = [Grade(grade).word for grade in range(LEVELS)]
    if "best-judge" in wanted:
        of_judgment = judged.truth[judged.pair]
        found = crowd_curve(
            judged.pair, judged.judge, judged.grade, of_judgment, draws=options.draws or 20
        )
        columns = (found.judges, found.accuracy, found.low, found.high, found.pairs)
        head = ["judges", "right", "low", "high", "pairs"]
        show(options, "Majority of n judges", head, list(zip(*columns, strict=True)))
        best = [[found.best_accuracy, found.best_pairs]]
        show(options, "Best judge alone", ["right", "pairs"], best)
    if "featured" in wanted:
        rows = []
        for one in featured(judged):
            own, others = (one.test.counts / one.test.counts.sum(axis=1, keepdims=True)).tolist()
            rows.append([words[one.grade], one.pairs, *own, *others, one.test.p, one.test.effect])
        head = ["most", "pairs", *words, *(f"majority {word}" for word in words), "p", "V"]
        show(options, "Judges who give a grade most, beside the majority", head, rows)
    if "histogram" in wanted:
        said, true = histogram(judged)
        bars = list(zip(words, said, true, strict=True))
        show(options, "Shares of grades", ["grade", "judgments", "truth"], bars)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    command = parser("overlap", __doc__)
    command.add_argument("--part", action="append", choices=[*PARTS, "paying"])
    command.add_argument("--skill", action="append", choices=sorted(SKILLS))
    command.add_argument("--ranker", action="append", choices=["lambdamart", "lambdarank"])
    options = command.parse_args(arguments, Options())
    wanted = options.part or PARTS
    show_web_parts = set(wanted) & {"best-judge", "featured", "histogram"}
    if show_web_parts:
        show_web(options, web_search(options.data), wanted)
    for part in [name for name in wanted if name in ("table", "sweep", "paying")]:
        show_trained(options, part)
    return 0


def show_trained(options: Options, part: str) -> None:
    """One table for every skill and ranker."""
    data = read_collection(options.data, "mslr")
    whole: list[list[object]] = []
    for skill in options.skill or sorted(SKILLS):
        choice = {"table": [*NINE, *OURS], "sweep": sweep()}
        settings = choice[part] if part in choice else paying(data, skill)
        for ranker in options.ranker or ["lambdamart", "lambdarank"]:
            found = train_all(
                data,
                settings,
                skill=skill,
                ranker=ranker,
                draws=options.draws or 10,
                seed=options.seed,
                cache=options.cache,
                processes=options.processes,
                progress=progress_line,
            )
            head, rows = table(found)
            title = f"{ranker}, {skill} judges, {options.draws or 10} draws × 5 folds"
            show(options, title, head, rows)
            if part == "paying":
                for against in RIVALS:
                    head, rows = table(found, against)
                    show(options, f"{title}, against {against}", head, rows)
            whole.extend([part, skill, ranker, *row] for row in rows)
    save(options, ["part", "skill", "ranker", *head], whole)


if __name__ == "__main__":
    raise SystemExit(main())
