"""From draws to a table: means, standard errors, paired tests against the first row, stars."""

from typing import Any

import numpy as np

from annotate.lab.runs import Recipe
from ranking.experiments.cells import Arrays
from ranking.experiments.replay import DEPTHS
from ranking.experiments.tables import lines
from ranking.judgments import FloatArray

LABELS, RANKED = "ndcg", "ranked"


def compare(made_by: Recipe, cells: list[Arrays]) -> dict[str, Any]:
    """A row for every scheme × aggregator, in the order they were asked for.

    A unit of the tests is a query, the mean over draws. ``ranked`` has the same rows for rankers
    that were trained on the labels.
    """
    names = [f"{router}, {by}" for router in made_by["routers"] for by in made_by["aggregators"]]
    facts = [
        {"router": router, "by": by, **_costs(cells, place)}
        for place, router in enumerate(made_by["routers"])
        for by in made_by["aggregators"]
    ]
    result = {"baseline": names[0], "rows": _rows(names, facts, cells, LABELS)}
    if RANKED in cells[0]:
        result[RANKED] = _rows(names, facts, cells, RANKED)
    return result


def _costs(cells: list[Arrays], place: int) -> dict[str, float | None]:
    return {
        name: _number(np.mean([arrays[name][place] for arrays in cells]))
        for name in ("cost", "ratio", "short")
    }


def _rows(
    names: list[str], facts: list[dict[str, Any]], cells: list[Arrays], key: str
) -> list[dict[str, Any]]:
    """draw × router × aggregator × depth × query becomes one row per router and aggregator."""
    values = np.stack([arrays[key] for arrays in cells])
    flat = values.reshape(len(cells), len(names), *values.shape[3:])
    units = _mean(flat)
    tested = lines(dict(zip(names, units[:, 0], strict=True)), names[0])
    rows = []
    for place, (line, fact) in enumerate(zip(tested, facts, strict=True)):
        deep = {f"ndcg_{k}": _number(np.nanmean(units[place, n])) for n, k in enumerate(DEPTHS)}
        numbers = {
            name: _number(getattr(line, name))
            for name in ("mean", "standard_error", "difference", "low", "high", "p")
        }
        rows.append(fact | deep | numbers | {"name": line.name, "n": line.n, "stars": line.stars})
    return rows


def _mean(values: FloatArray) -> FloatArray:
    """The mean over draws; nan where a query has no defined NDCG, in whichever draw."""
    return np.asarray(values.mean(axis=0))


def _number(value: float) -> float | None:
    """JSON knows no nan."""
    return None if np.isnan(value) else round(float(value), 6)
