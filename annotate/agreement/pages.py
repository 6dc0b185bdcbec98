"""Every figure of the page *Agreement*. Reads only."""

from collections import Counter
from typing import Any

from annotate.agreement.matrices import NO_OVERLAP, by_grade, consensus, pooled
from annotate.agreement.snapshots import KIND
from annotate.figures import Column, Figure, Row, names, stored, when, word
from annotate.models import Campaign, Pair, Query

SHORT = 90

#: Each coefficient: its name, and what it says.
WORDS = {
    "alpha": (
        "Krippendorff’s α, ordinal",
        "The one to quote: corrected for chance, far grades count more.",
    ),
    "ac2": ("Gwet’s AC2, quadratic", "Stays meaningful when most pairs have the same grade."),
    "weighted_kappa": (
        "Kappa, quadratic weights",
        "All couples of judges pooled; a near miss counts for much.",
    ),
    "kappa": ("Kappa, plain", "All couples of judges pooled; only the same grade counts."),
    "fleiss": ("Fleiss’ kappa", "As plain kappa, every pair counted once."),
    "percent": ("Same grade", "How often two judges say the same, luck included."),
    "near": ("At most one grade apart", "How often two judges are nearly of one mind."),
}


def figures(campaign: Campaign) -> list[Figure]:
    """Every figure of the page, in its order."""
    data, _ = stored(campaign, KIND)
    return [
        coefficients(data),
        over_time(data),
        couples(data),
        pooled(data),
        consensus(data),
        by_grade(data),
        queries(campaign, data),
        disputed(campaign, data),
    ]


def coefficients(data: dict[str, Any]) -> Figure:
    rows = [
        {"coefficient": WORDS[name][0], "meaning": WORDS[name][1], **row}
        for name, row in data.get("coefficients", {}).items()
        if data["overlapping"]
    ]
    return Figure(
        "coefficients",
        "Agreement by every measure",
        "1 is full agreement, 0 is chance. The last two are shares, with luck left in. "
        f"95 % intervals over n = {data.get('overlapping', 0):,} pairs with two judgments or more.",
        [
            Column("coefficient", "Measure"),
            Column("value", "Value", "figure3"),
            Column("low:high", "95 % interval", "interval"),
            Column("pairs", "Pairs", "whole"),
            Column("judgments", "Judgments", "whole"),
            Column("meaning", "What it says"),
        ],
        rows,
        NO_OVERLAP,
    )


def over_time(data: dict[str, Any]) -> Figure:
    windows = data.get("windows", [])
    rows = [
        {"to": when(window["to"]), "pairs": window["pairs"]}
        | {name: window[name]["value"] for name in ("alpha", "ac2", "weighted_kappa", "percent")}
        | {"low": window["alpha"]["low"], "high": window["alpha"]["high"]}
        for window in windows
    ]
    size = windows[0]["pairs"] if windows else 30
    return Figure(
        "over_time",
        "Agreement over time",
        f"Each point measures the pairs of its own stretch of time, about {size:,} each, not all "
        "since the start. The band is the 95 % interval of α.",
        [
            Column("to", "Until", "when"),
            Column("pairs", "Pairs", "whole"),
            Column("alpha", "α", "figure3"),
            Column("low:high", "95 % interval", "interval"),
            Column("ac2", "AC2", "figure3"),
            Column("weighted_kappa", "Weighted kappa", "figure3"),
            Column("percent", "Same grade", "percent"),
        ],
        rows,
        "It takes 30 pairs with two judgments to draw the first point.",
    )


def couples(data: dict[str, Any], most: int | None = None) -> Figure:
    """Every two judges; with ``most`` those of so many judges who share most with the others."""
    found = data.get("couples", {"judges": [], "rows": [], "of": 0})
    shown = _sharing_most(found["rows"], most) if most else set(found["judges"])
    called = names(shown)
    rows = [
        row
        | {"one": called.get(row["one"], "–"), "other": called.get(row["other"], "–")}
        | {"one_id": row["one"], "other_id": row["other"]}
        for row in found["rows"]
        if {row["one"], row["other"]} <= shown
    ]
    some = f" The {len(shown)} busiest of {found['of']} judges." if len(shown) < found["of"] else ""
    return Figure(
        "couples",
        "Judge against judge",
        f"Weighted kappa over the pairs both judged; n = {len(rows):,} couples of judges.{some}",
        [
            Column("one", "Judge", "judge"),
            Column("other", "Other judge", "judge"),
            Column("kappa", "Weighted kappa", "figure"),
            Column("low:high", "95 % interval", "interval"),
            Column("pairs", "Pairs both judged", "whole"),
        ],
        rows,
        NO_OVERLAP,
    )


def _sharing_most(rows: list[Row], most: int) -> set[int]:
    shared: Counter[int] = Counter()
    for row in rows:
        shared.update({row["one"]: row["pairs"], row["other"]: row["pairs"]})
    return {judge for judge, _ in shared.most_common(most)}


def queries(campaign: Campaign, data: dict[str, Any]) -> Figure:
    found = data.get("queries", [])
    texts = Query.objects.filter(pk__in=[row["query"] for row in found])
    texts_of = dict(texts.values_list("pk", "text"))
    rows = [
        {
            "query": texts_of.get(row["query"], "–"),
            "query_id": row["query"],
            "apart": row["apart"],
            "alpha": row["alpha"]["value"],
            "low": row["alpha"]["low"],
            "high": row["alpha"]["high"],
            "percent": row["percent"]["value"],
            "pairs": row["pairs"],
        }
        for row in found
    ]
    total = data.get("queries_with_overlap", 0)
    return Figure(
        "queries",
        "Queries judges dispute most",
        f"The {len(rows):,} worst of n = {total:,} queries with overlap. Apart: how many grades lie"
        " between two judges of a pair in the mean. Queries with few pairs are ranked with care.",
        [
            Column("query", "Query", "query"),
            Column("apart", "Apart", "figure"),
            Column("percent", "Same grade", "percent"),
            Column("alpha", "α", "figure"),
            Column("low:high", "95 % interval", "interval"),
            Column("pairs", "Pairs", "whole"),
        ],
        rows,
        NO_OVERLAP,
    )


def disputed(campaign: Campaign, data: dict[str, Any]) -> Figure:
    found = data.get("disputed", [])
    pairs = Pair.objects.filter(pk__in=[row["pair"] for row in found])
    known = {pair.pk: pair for pair in pairs.select_related("query", "document").defer("features")}
    rows = [
        {
            "query": known[row["pair"]].query.text,
            "document": str(known[row["pair"]].document)[:SHORT],
            "pair_id": row["pair"],
            "apart": row["apart"],
            "lowest": word(row["low"]),
            "highest": word(row["high"]),
            "judgments": row["judgments"],
        }
        for row in found
        if row["pair"] in known
    ]
    return Figure(
        "disputed",
        "Pairs judges dispute most",
        f"The {len(rows):,} pairs whose judges lie furthest apart. Open one to read what each of "
        "them said, and to decide.",
        [
            Column("query", "Query", "pair"),
            Column("document", "Document"),
            Column("lowest", "Lowest", "grade"),
            Column("highest", "Highest", "grade"),
            Column("apart", "Apart", "figure"),
            Column("judgments", "Judgments", "whole"),
        ],
        rows,
        "No two judges of a pair differ so far.",
    )
