"""Reports hold what the library says of the judgments that count, and nothing else."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from annotate import jobs, labels, reports
from annotate.models import Campaign, Job, Pair, Report, Seat
from annotate.reports.reading import Made
from annotate.reports.selection import against
from annotate.reports.warnings import Usual, warnings
from ranking import agreement as lib
from ranking.limits.selective import selective_confusion
from ranking.noise import judge_pnoise
from ranking.others import others
from ranking.replay import replay
from tests.annotate import judged

HOW: dict[str, Any] = {"interval": 0.95, "rng": 0, "resamples": 200}
LIBRARY: dict[str, Callable[..., lib.Agreement]] = {
    "alpha": lib.krippendorff_alpha,
    "ac2": lib.gwet_ac2,
    "weighted_kappa": partial(lib.pooled_kappa, weights="quadratic"),
    "kappa": lib.pooled_kappa,
    "fleiss": lib.fleiss_kappa,
    "percent": lib.percent_agreement,
    "near": partial(lib.percent_agreement, within=1),
}


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-9)


def run(campaign: Campaign) -> dict[str, Any]:
    """Through the job, as a worker does it."""
    job = jobs.enqueue("report", campaign)
    assert job is not None
    taken = jobs.take(job.pk)
    assert taken is not None
    reports.run(taken)
    return {report.kind: report.data for report in Report.objects.filter(campaign=campaign)}


# -- The job --------------------------------------------------------------------------------------


def test_job_writes_every_report_once(campaign: Campaign) -> None:
    judged.if_good_3(campaign)
    first = run(campaign)
    assert tuple(sorted(first)) == tuple(sorted(reports.KINDS))
    assert run(campaign) == first
    assert Report.objects.count() == len(reports.KINDS)
    assert {job.state for job in Job.objects.all()} == {Job.State.DONE}


def test_reports_follow_a_snapshot(campaign: Campaign) -> None:
    judged.if_good_3(campaign)
    labels.take_snapshot(campaign)
    labels.take_snapshot(campaign)
    assert Job.objects.filter(kind="report", state=Job.State.DUE).count() == 1


def test_campaign_without_judgments_has_empty_reports(campaign: Campaign) -> None:
    found = run(campaign)
    assert {kind: data["judgments"] for kind, data in found.items()} == dict.fromkeys(found, 0)


def test_reports_are_json_without_nan(campaign: Campaign) -> None:
    judged.if_good_3(campaign)
    for data in run(campaign).values():
        json.dumps(data, allow_nan=False)


# -- Agreement ------------------------------------------------------------------------------------


def test_agreement_equals_the_library(campaign: Campaign) -> None:
    judged.crowd(campaign)
    rows = labels.judgments(labels.counted(campaign))
    found = run(campaign)["agreement"]
    assert found["coefficients"].keys() == LIBRARY.keys()
    for name, coefficient in LIBRARY.items():
        expected, row = coefficient(*rows, **HOW), found["coefficients"][name]
        assert row["value"] == near(expected.value)
        assert (row["low"], row["high"]) == (near(expected.low), near(expected.high))
        assert (row["pairs"], row["judgments"]) == (expected.pairs, expected.judgments)


def test_alpha_is_that_of_the_snapshot(campaign: Campaign) -> None:
    judged.crowd(campaign)
    alpha = run(campaign)["agreement"]["coefficients"]["alpha"]
    shot = labels.take_snapshot(campaign)
    assert (shot.alpha, shot.alpha_low, shot.alpha_high) == (
        near(alpha["value"]),
        near(alpha["low"]),
        near(alpha["high"]),
    )


def test_couples_and_grades_equal_the_library(campaign: Campaign) -> None:
    judged.crowd(campaign)
    rows = labels.judgments(labels.counted(campaign))
    found = run(campaign)["agreement"]
    kappas = lib.pairwise_kappa(*rows, "quadratic", **HOW)
    place = {judge: index for index, judge in enumerate(kappas.judges.tolist())}
    assert len(found["couples"]["rows"]) == 6 * 5 / 2
    for row in found["couples"]["rows"]:
        one, other = place[row["one"]], place[row["other"]]
        assert row["kappa"] == near(kappas.kappa[one, other])
        assert (row["low"], row["high"]) == (
            near(kappas.low[one, other]),
            near(kappas.high[one, other]),
        )
        assert row["pairs"] == kappas.pairs[one, other]
    pooled = lib.confusion(*rows, **HOW)
    for name in ("matrix", "low", "high"):
        expected = [[near(value) for value in row] for row in getattr(pooled, name)]
        assert found["pooled"][name] == expected
    assert found["pooled"]["couples"] == pooled.counts.tolist()
    assert found["pooled"]["inferred"] == []


def test_under_if_good_nobody_is_said_to_change_bad_to_good(campaign: Campaign) -> None:
    judged.selected(campaign)
    rows = labels.judgments(labels.counted(campaign))
    found = run(campaign)["agreement"]
    asked = [False, False, True, True, True]
    expected = selective_confusion(*rows, asked, **HOW)
    assert expected is not None
    pooled = found["pooled"]
    assert pooled["matrix"] == [[near(value) for value in row] for row in expected.matrix]
    assert pooled["couples"] == expected.couples.tolist()
    assert pooled["inferred"] == [0, 1]
    naive = lib.confusion(*rows).matrix
    assert sum(pooled["matrix"][0][2:]) < 0.5 * naive[0, 2:].sum()
    # Of a pair with three judgments the first one led to the others: two are held against them.
    sizes = np.unique(rows[0], return_counts=True)[1]
    assert found["consensus"]["judgments"] == np.sum(sizes[sizes > 1] - 1)


def test_consensus_of_the_others_written_out(campaign: Campaign) -> None:
    judged.if_good_3(campaign)
    found = run(campaign)["agreement"]["consensus"]
    # The first of each led to the others and is on neither side: 2 and 1 of (3,2,1), 2 and 4 of
    # (2,2,4), 1 and 2 of (4,1,2) are held against each other.
    counts = np.zeros((5, 5), int)
    for consensus, hers in [(1, 2), (2, 1), (4, 2), (2, 4), (2, 1), (1, 2)]:
        counts[consensus, hers] += 1
    assert found["counts"] == counts.tolist()
    assert found["judgments"] == 6


def test_who_judges_first_is_not_said_to_lean_or_to_click(campaign: Campaign) -> None:
    first, *later = judged.selected(campaign)
    rows = {row["judge"]: row for row in run(campaign)["judges"]["judges"]}
    hers = rows[first.pk]
    made = labels.judgments(labels.counted(campaign))
    rest = others(*made)
    mine = (made[1] == first.pk) & rest.compared
    assert np.mean(made[2][mine] - rest.mean[mine]) > 0.3  # only high ones led to others
    assert abs(hers["bias"]["value"]) < 0.05
    assert (hers["warnings"], hers["kappa"], hers["consensus"]) == ([], None, None)
    for judge in later:
        assert abs(rows[judge.pk]["bias"]["value"]) < 0.2
        assert rows[judge.pk]["kappa"]["pairs"] == np.sum((made[1] == judge.pk) & rest.compared)
        assert rows[judge.pk]["consensus"]["p"] > 0.01  # beside the first one she would seem harsh


def test_where_one_more_is_asked_the_first_is_all_there_is_to_compare_with() -> None:
    pair, judge, grade = (
        np.array([1, 1, 2, 3, 3]),
        np.array([7, 8, 7, 7, 8]),
        np.array([4, 2, 0, 3, 3]),
    )
    nothing = np.zeros(5)
    made = Made(pair, judge, grade, pair, np.arange(5.0), nothing)
    found = against(made, np.array([False, False, True, True, True]))
    assert found.compared.tolist() == [False, True, False, False, True]
    assert found.majority[found.compared].tolist() == [4, 3]


def test_windows_divide_the_overlapping_pairs(campaign: Campaign) -> None:
    judged.crowd(campaign, queries=20)
    found = run(campaign)["agreement"]
    windows = found["windows"]
    assert [window["pairs"] for window in windows] == [34, 33, 33]
    assert all(a["to"] <= b["to"] for a, b in pairwise(windows))
    assert found["overlapping"] == 100


def test_falling_agreement_is_noticed(campaign: Campaign) -> None:
    people = judged.judges_of(campaign, 3)
    judged.pool(campaign, queries=40)
    rng = np.random.default_rng(0)
    rows = []
    for number, pair in enumerate(Pair.objects.filter(campaign=campaign).order_by("id")):
        said = int(rng.integers(5))
        rows += [(pair, judge, said if number < 160 else int(rng.integers(5))) for judge in people]
    judged.give(campaign, rows)
    recent = run(campaign)["agreement"]["recent"]
    assert recent["falls"]
    assert recent["before"]["value"] == 1.0
    assert recent["now"]["pairs"] == 40


def test_disputed_pairs_come_furthest_apart_first(campaign: Campaign) -> None:
    judged.if_good_3(campaign)
    found = run(campaign)["agreement"]["disputed"]
    pairs = list(Pair.objects.filter(campaign=campaign).order_by("id"))
    # (4,1,2) is 3+2+1 over three couples, (3,2,1) 2+1+1, (2,2,4) 0+2+2.
    assert [row["pair"] for row in found] == [pairs[5].pk, pairs[0].pk, pairs[2].pk]
    assert [row["apart"] for row in found] == [near(2), near(4 / 3), near(4 / 3)]
    assert (found[0]["low"], found[0]["high"]) == (1, 4)


# -- Judges ---------------------------------------------------------------------------------------


def test_judges_equal_the_library(campaign: Campaign) -> None:
    people = judged.crowd(campaign)
    pair, judge, grade = labels.judgments(labels.counted(campaign))
    query_of = dict(Pair.objects.values_list("pk", "query_id"))
    qid = np.array([query_of[key] for key in pair.tolist()])
    noise = judge_pnoise(pair, judge, grade, qid)
    rest = others(pair, judge, grade)
    rows = {row["judge"]: row for row in run(campaign)["judges"]["judges"]}
    assert rows.keys() == {user.pk for user in people}
    for index, who in enumerate(noise.judges.tolist()):
        row, mine = rows[who], judge == who
        kappa = lib.cohen_kappa(grade[mine], rest.majority[mine], "quadratic", **HOW)
        assert row["kappa"]["value"] == near(kappa.value)
        assert (row["kappa"]["low"], row["kappa"]["high"]) == (near(kappa.low), near(kappa.high))
        assert row["pnoise"] == near(noise.pnoise[index])
        assert row["preferences"] == noise.preferences[index]
        assert row["bias"]["value"] == near(np.mean(grade[mine] - rest.mean[mine]))
        test = lib.distribution_test(grade[mine], rest.majority[mine])
        assert (row["consensus"]["p"], row["consensus"]["effect"]) == (
            near(test.p),
            near(test.effect),
        )
        assert row["histogram"] == np.bincount(grade[mine], minlength=5).tolist()
        assert row["seconds"] == 12


def test_random_judge_is_warned_of(campaign: Campaign) -> None:
    people = judged.crowd(campaign, queries=40)
    rows = {row["judge"]: row for row in run(campaign)["judges"]["judges"]}
    assert [warning["code"] for warning in rows[people[0].pk]["warnings"]] == ["random"]
    honest = [rows[user.pk]["warnings"] for user in people[1:]]
    assert honest == [[]] * 5


def row_with(**fields: Any) -> dict[str, Any]:
    plain = {
        "judgments": 100,
        "seconds": 10.0,
        "gold_made": 0,
        "gold_right": 0,
        "kappa": None,
        "pnoise": None,
        "preferences": 0,
        "bias": None,
        "drift": None,
    }
    return plain | fields


#: The judge in the middle, of ten.
USUAL = Usual(seconds=10.0, kappa=0.5, gold=0.8, judges=10)


def kappa(value: float | None, high: float | None, pairs: int) -> dict[str, Any]:
    return {"value": value, "high": high, "pairs": pairs}


def bias(value: float, half: float, n: int) -> dict[str, Any]:
    return {"value": value, "low": value - half, "high": value + half, "n": n}


def drift(lean: tuple[float, float], stray: tuple[float, float]) -> dict[str, Any]:
    changes = [{"value": value, "z": z} for value, z in (lean, stray)]
    return {"lean": changes[0], "stray": changes[1], "late": 25, "early": 75}


@pytest.mark.parametrize(
    ("fields", "codes"),
    [
        ({}, []),
        # With 80 % usual, 5 of 10 or fewer come by luck in 3 % of all cases, 6 or fewer in 12 %.
        ({"gold_made": 10, "gold_right": 5}, ["gold"]),
        ({"gold_made": 10, "gold_right": 6}, []),
        ({"gold_made": 4, "gold_right": 0}, []),
        ({"kappa": kappa(0.2, 0.4, 20)}, ["kappa"]),
        ({"kappa": kappa(0.2, 0.4, 19)}, []),
        ({"kappa": kappa(0.3, 0.4, 20)}, []),
        ({"kappa": kappa(0.2, 0.5, 20)}, []),
        ({"kappa": kappa(None, None, 50)}, []),
        ({"pnoise": 0.45, "preferences": 50}, ["pnoise"]),
        ({"pnoise": 0.45, "preferences": 49}, []),
        ({"bias": bias(0.6, 0.2, 30)}, ["lean"]),
        ({"bias": bias(-0.6, 0.2, 30)}, ["lean"]),
        ({"bias": bias(0.6, 0.7, 30)}, []),
        ({"drift": drift((-0.5, -4.0), (0.0, 0.0))}, ["drift"]),
        ({"drift": drift((0.1, 4.0), (0.5, 4.0))}, ["stray"]),
        ({"drift": drift((0.1, 1.0), (-0.5, -4.0))}, []),
        ({"drift": drift((0.5, 2.0), (0.0, 0.0))}, []),
        ({"seconds": 3.0}, ["fast"]),
        ({"seconds": 3.0, "judgments": 19}, []),
    ],
)
def test_warnings_need_a_reason_and_enough_to_go_by(
    fields: dict[str, Any], codes: list[str]
) -> None:
    assert [warning["code"] for warning in warnings(row_with(**fields), None, USUAL)] == codes


def test_among_many_judges_one_with_a_low_kappa_is_to_be_expected() -> None:
    found = [
        len(warnings(row_with(kappa=kappa(0.2, 0.44, 30)), None, replace(USUAL, judges=judges)))
        for judges in (1, 10, 500)
    ]
    assert found == [1, 0, 0]


def test_pace_leaves_pauses_out(campaign: Campaign) -> None:
    (judge, *_) = judged.if_good_3(campaign)
    seats = Seat.objects.filter(judge=judge).order_by("judged_at")
    assert seats.count() == 6
    row = next(r for r in run(campaign)["judges"]["judges"] if r["judge"] == judge.pk)
    assert row["per_hour"] == near(60)


def test_gold_is_counted_for_judges_and_left_out_of_agreement(campaign: Campaign) -> None:
    people = judged.judges_of(campaign, 4)
    judged.gold(campaign, 6, people)
    found = run(campaign)
    assert found["agreement"]["judgments"] == 0
    rows = {row["judge"]: row for row in found["judges"]["judges"]}
    assert (rows[people[0].pk]["gold_right"], rows[people[0].pk]["gold_made"]) == (6, 6)
    crowd = found["crowd"]
    assert [row["judges"] for row in crowd["curve"]] == [1, 2, 3, 4]
    assert (crowd["best"], crowd["best_accuracy"], crowd["best_pairs"]) == (people[0].pk, 1.0, 6)


# -- Cost -----------------------------------------------------------------------------------------


def test_costs_of_all_schemes_written_out(campaign: Campaign) -> None:
    judged.if_good_3(campaign)
    found = run(campaign)["cost"]
    assert (found["judgments"], found["pairs"], found["r"]) == (12, 6, 1.0)
    assert (found["good"], found["fair"]) == (7, 5)
    schemes = {row["scheme"]: row for row in found["schemes"]}
    assert found["schemes"][0]["scheme"] == "if-good-3"
    assert [row["own"] for row in found["schemes"]].count(True) == 1
    own = schemes["if-good-3"]
    assert (own["judgments"], own["labelling"], own["short"]) == (12, 2.0, 0)
    assert own["formula"] == 2.0
    assert schemes["single"]["labelling"] == 1.0
    assert (schemes["3-overlap"]["short"], schemes["3-overlap"]["missing"]) == (3, 6)
    assert schemes["if-good-x3"]["training"] == near((9 + 3) / 6)
    pair, _, grade = labels.judgments(labels.counted(campaign))
    assert replay(pair, grade, campaign.scheme).judgments == len(pair)
