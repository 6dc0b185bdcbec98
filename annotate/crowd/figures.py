"""What the pages *Judges* and one judge's page show. Reads only."""

from typing import Any

from annotate.agreement import MATRIX, matrix_rows
from annotate.crowd.people import KIND, Judge, judges
from annotate.figures import Column, Figure, names, stored, when
from annotate.models import Campaign
from ranking.grades import Grade

NOBODY = "No judgment yet. Send judges their sign-in links."
NOT_COMPARED = (
    "Nothing to compare her with yet: nobody else judged her pairs, or only because of her grades."
)
P_CLEAR = 0.01


def figures(campaign: Campaign) -> list[Figure]:
    """Every figure of the page, in its order."""
    return [table(campaign), featured(campaign), against_best(campaign)]


def table(campaign: Campaign) -> Figure:
    data, _ = stored(campaign, KIND)
    rows = [
        {
            "judge": one.name,
            "judge_id": one.pk,
            "judgments": one.judgments,
            "histogram": one.row["histogram"],
            "per_hour": one.row["per_hour"],
            "seconds": one.row["seconds"],
            "kappa": _part(one.row["kappa"], "value"),
            "low": _part(one.row["kappa"], "low"),
            "high": _part(one.row["kappa"], "high"),
            "compared": _part(one.row["kappa"], "pairs") or 0,
            "pnoise": one.row["pnoise"],
            "bias": _part(one.row["bias"], "value"),
            "drift": _part(_part(one.row["drift"], "lean"), "value"),
            "gold_right": one.row["gold_right"],
            "gold_made": one.row["gold_made"],
            "last_at": when(one.row["last_at"]),
            "worry": one.worry,
            "warning": " ".join(one.warnings),
        }
        for one in judges(campaign)
        if one.row
    ]
    return Figure(
        "judges",
        "Judges",
        "Each against the consensus of the others on the same pairs; n = "
        f"{data.get('judgments', 0):,} judgments, {data.get('compared', 0):,} with others to "
        "compare.",
        [
            Column("judge", "Judge", "judge"),
            Column("judgments", "Judgments", "whole"),
            Column("histogram", "Grades", "bar"),
            Column("kappa", "Kappa", "figure"),
            Column("low:high", "95 %", "interval"),
            Column("pnoise", "pNoise", "figure"),
            Column("bias", "Leans", "signed"),
            Column("drift", "Drift", "signed"),
            Column("gold_right:gold_made", "Gold", "of"),
            Column("seconds", "Seconds", "whole"),
            Column("per_hour", "An hour", "whole"),
            Column("worry", "", "worry"),
        ],
        rows,
        NOBODY,
    )


def _part(found: dict[str, Any] | None, key: str) -> Any:
    return None if found is None else found[key]


def featured(campaign: Campaign) -> Figure:
    """For each grade the judge who gives it most, beside the others on the same pairs."""
    data, _ = stored(campaign, KIND)
    able = [row for row in data.get("judges", []) if row["consensus"]]
    called = names(row["judge"] for row in able)
    rows = []
    for grade in sorted(Grade, reverse=True) if able else []:
        row = max(able, key=lambda one: _share(one["consensus"]["hers"], grade))
        found = row["consensus"]
        rows.append(
            {
                "feature": f"Most {grade.word}",
                "judge": called.get(row["judge"], "–"),
                "judge_id": row["judge"],
                "hers": found["hers"],
                "others": found["others"],
                "p": found["p"],
                "effect": found["effect"],
                "pairs": sum(found["hers"]),
                "verdict": "differs" if (found["p"] or 1) < P_CLEAR else "",
            }
        )
    return Figure(
        "featured",
        "Featured judges",
        "Who gives each grade most, beside the majority of the others on the same pairs. p is of a "
        "chi-square test that both use the grades alike; V (Cramér) is how far apart they are, 0 "
        "to 1.",
        [
            Column("feature", "Gives"),
            Column("judge", "Judge", "judge"),
            Column("hers", "Her grades", "bar"),
            Column("others", "The others", "bar"),
            Column("p", "p", "p"),
            Column("effect", "V", "figure"),
            Column("pairs", "Pairs", "whole"),
            Column("verdict", "", "worry"),
        ],
        rows,
        "No pair has two judgments yet, so there is nobody to compare with.",
    )


def _share(histogram: list[int], grade: Grade) -> float:
    return histogram[grade] / max(sum(histogram), 1)


def against_best(campaign: Campaign) -> Figure:
    """Figure 1: the majority of n judges against the best single judge, on gold pairs."""
    data, _ = stored(campaign, "crowd")
    best = data.get("best")
    rows = [row | {"best": data["best_accuracy"]} for row in data.get("curve", [])]
    who = names([best]).get(best, "–") if best is not None else "nobody"
    return Figure(
        "against_best",
        "Several judges against the best one",
        "How often the majority of n judges is the gold grade, and how often the best single judge "
        f"({who}, n = {data.get('best_pairs', 0)} gold pairs) is.",
        [
            Column("judges", "Judges", "whole"),
            Column("accuracy", "Majority is right", "percent"),
            Column("low:high", "95 % interval", "interval"),
            Column("pairs", "Gold pairs", "whole"),
            Column("best", "Best judge is right", "percent"),
        ],
        rows if best is not None else [],
        "It needs gold pairs that several people judged. Mark pairs as gold under Pairs.",
    )


def histogram(one: Judge) -> Figure:
    """Her grades beside the majority of the others on the same pairs."""
    found = one.row.get("consensus")
    rows = [
        {
            "grade": int(grade),
            "name": grade.word,
            "hers": found["hers"][grade],
            "others": found["others"][grade],
            "her_share": _share(found["hers"], grade),
            "others_share": _share(found["others"], grade),
        }
        for grade in sorted(Grade, reverse=True)
        if found
    ]
    return Figure(
        "histogram",
        "Her grades beside the others’",
        verdict(found) if found else "",
        [
            Column("name", "Grade"),
            Column("hers", "Hers", "whole"),
            Column("her_share", "Share", "percent"),
            Column("others", "Majority of the others", "whole"),
            Column("others_share", "Share", "percent"),
        ],
        rows,
        NOT_COMPARED,
    )


def verdict(found: dict[str, Any]) -> str:
    """What the chi-square test says, with its numbers."""
    n = sum(found["hers"])
    if found["p"] is None:
        return f"n = {n:,} pairs. {found['reason']}"
    clear = found["p"] < P_CLEAR
    says = "She uses the grades differently" if clear else "No clear difference"
    p = f"p = {found['p']:.2g}" if found["p"] >= 0.0001 else "p < 0.0001"
    rough = " Some counts are small, so p is rough." if found["rough"] else ""
    return (
        f"{says}: χ² = {found['statistic']:.1f}, {found['dof']} degrees of freedom, {p}, "
        f"V = {found['effect']:.2f}, n = {n:,} pairs.{rough}"
    )


def confusion(one: Judge) -> Figure:
    """Her grades against the majority of the others."""
    counts = one.row.get("confusion")
    total = sum(map(sum, counts)) if counts else 0
    return Figure(
        "confusion",
        "What she says, what the others say",
        "Where the majority of the others says the grade on the left, how often does she say the "
        f"grade below? n = {total:,} pairs.",
        MATRIX,
        matrix_rows(counts) if counts else [],
        NOT_COMPARED,
    )


def judge_figures(one: Judge) -> list[Figure]:
    return [histogram(one), confusion(one)]
