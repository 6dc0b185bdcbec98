"""Replay: judgments dealt to routers, cells kept and resumed, tables that tell what came out."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.experiments import cells, judged, paying, replay, tables
from ranking.experiments.dealing import Budgeted, Padded, deal, short, used, wanted
from ranking.paying import IfItPays
from ranking.schemes import (
    GoodTillBad,
    IfGood,
    IfGoodWeighted,
    KOverlap,
    Scheme,
    Single,
)
from ranking.simulation import SKILLS

MSLR = (0.52, 0.32, 0.13, 0.02, 0.01)
ROUTERS: list[Scheme] = [
    Single(),
    KOverlap(3),
    IfGood(2),
    IfGood(5),
    GoodTillBad(),
    GoodTillBad(4),
    IfGoodWeighted(3),
]


def lists(skill: str = "crowd", queries: int = 8, documents: int = 10) -> judged.Judged:
    truth, query = judged.made_lists(MSLR, queries, documents, rng=1)
    return judged.simulated(truth, query, SKILLS[skill], per_pair=6, judges=12, rng=2)


def one_by_one(grades: list[int], scheme: Scheme) -> int:
    """The live router: after each judgment the scheme is asked whether it wants another."""
    taken: list[int] = []
    while len(taken) < len(grades) and scheme.wants_more(taken):
        taken.append(grades[len(taken)])
    return len(taken)


# -- Dealing --------------------------------------------------------------------------------------


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=7), min_size=1, max_size=40),
    st.sampled_from(ROUTERS),
)
@settings(max_examples=150, deadline=None)
def test_a_replayed_scheme_asks_what_the_live_one_asks(
    histories: list[list[int]], scheme: Scheme
) -> None:
    table = np.full((len(histories), 7), -1)
    for row, grades in zip(table, histories, strict=True):
        row[: len(grades)] = grades
    number = np.array([len(grades) for grades in histories])
    found = wanted(table, number, scheme).tolist()
    assert found == [one_by_one(grades, scheme) for grades in histories]


def test_the_worked_examples_of_the_study_are_complete() -> None:
    table = np.array([[3, 2, 1, 4], [0, 4, 4, 4], [2, 2, 4, 4], [1, 4, 4, 4]])
    assert wanted(table, np.full(4, 4), IfGood(3)).tolist() == [3, 1, 3, 1]
    assert wanted(table, np.full(4, 4), GoodTillBad()).tolist() == [3, 1, 4, 1]


def test_dealing_keeps_every_judgment_and_its_judge() -> None:
    data = lists()
    dealt = deal(data, 3)
    pair, judge, grade = dealt.taken(dealt.number)
    given_, kept = (data.pair, data.judge, data.grade), (pair, judge, grade)
    assert sorted(zip(*given_, strict=True)) == sorted(zip(*kept, strict=True))


@pytest.mark.parametrize("scheme", ROUTERS, ids=lambda scheme: scheme.label)
def test_pairs_are_short_where_the_scheme_still_wants_more_than_they_have(scheme: Scheme) -> None:
    dealt = deal(lists(), 0)
    taken = used(dealt, scheme)
    want = sum(
        int(n) == dealt.number[pair] and scheme.wants_more(dealt.grade[pair, :n].tolist())
        for pair, n in enumerate(taken)
    )
    assert short(dealt, scheme, taken) == want


def test_if_it_pays_is_short_where_it_took_all_and_is_below_its_cap() -> None:
    dealt = deal(lists(), 0)
    for router in (IfItPays(0.0001, cap=9), Budgeted(5.0, IfItPays(0.0001, cap=9))):
        taken = used(dealt, router)
        assert short(dealt, router, taken) == np.count_nonzero(taken == 6) > 0
    capped = IfItPays(0.0001, cap=6)
    assert short(dealt, capped, used(dealt, capped)) == 0


def test_the_same_seed_deals_alike_and_another_does_not() -> None:
    data = lists()
    assert (deal(data, 3).grade == deal(data, 3).grade).all()
    assert (deal(data, 3).grade != deal(data, 4).grade).any()


def test_unshuffled_judgments_come_in_the_order_they_were_made() -> None:
    data = judged.Judged(
        np.array([0, 1, 0]), np.array([5, 6, 7]), np.array([4, 1, 2]), np.array([3, 1]), None
    )
    dealt = deal(data, 0, shuffle=False)
    assert dealt.grade.tolist() == [[4, 2], [1, -1]]
    assert dealt.judge.tolist() == [[5, 7], [6, -1]]


def test_padding_by_query_and_back_loses_nothing() -> None:
    query = np.array([4, -1, 2, 4, 2, 2])
    padded = Padded(query)
    assert padded.spread(np.arange(6)).tolist() == [[2, 4, 5], [0, 3, 0]]
    assert padded.gather(padded.spread(np.arange(6) + 1)).tolist() == [1, 0, 3, 4, 5, 6]


def test_if_it_pays_asks_less_at_a_higher_price_and_respects_the_cap() -> None:
    dealt = deal(lists(), 0)
    cheap, dear = (used(dealt, IfItPays(price, cap=4)) for price in (1e-3, 0.1))
    assert cheap.sum() > dear.sum()
    assert cheap.min() >= 1
    assert cheap.max() <= 4


def test_if_it_pays_leaves_pairs_without_a_query_at_one_judgment() -> None:
    dealt = deal(lists(), 0)
    dealt.query[:10] = -1
    assert used(dealt, IfItPays(1e-3))[:10].tolist() == [1] * 10


def test_a_budget_is_spent_to_the_judgment_and_no_further() -> None:
    dealt = deal(lists(), 0)
    taken = used(dealt, Budgeted(1.5))
    assert taken.sum() == 120
    assert taken.min() >= 1


def test_a_budget_beyond_what_there_is_ends_all_the_same() -> None:
    dealt = deal(lists(queries=2), 0)
    assert used(dealt, Budgeted(50.0)).max() <= 6


def test_a_budget_below_one_judgment_is_refused() -> None:
    with pytest.raises(ValueError, match=r"budget must be at least 1\. Got 0\.5 instead\."):
        Budgeted(0.5)


# -- Collections ----------------------------------------------------------------------------------


def test_a_file_of_judgments_is_read(tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text(
        "query,document,judge,grade,truth\nb,x,ann,4,3\na,x,ben,0,1\nb,x,ben,2,3\n",
        encoding="utf-8",
    )
    data = judged.read_csv(file)
    assert data.pair.tolist() == [1, 0, 1]
    assert data.judge.tolist() == [0, 1, 1]
    assert data.truth.tolist() == [1, 3]
    assert data.query is not None
    assert data.query.tolist() == [0, 1]


def test_without_a_truth_the_consensus_stands_for_it(tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text("query,document,judge,grade\nq,x,ann,4\nq,y,ann,0\nq,x,ben,4\n", "utf-8")
    assert judged.read_csv(file).truth.tolist() == [4, 0]


def test_a_file_without_its_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text("query,judge\nq,ann\n", encoding="utf-8")
    with pytest.raises(ValueError, match="must have document, grade, judge, query"):
        judged.read_csv(file)


def test_simulated_judges_of_a_pair_are_different_people() -> None:
    data = lists()
    assert len(set(zip(data.pair.tolist(), data.judge.tolist(), strict=True))) == len(data.pair)


def test_pairs_without_queries_are_dealt_into_queries_of_twenty() -> None:
    data = judged.Judged(
        *(np.arange(45), np.arange(45), np.zeros(45, int), np.zeros(45, int), None)
    )
    query = data.queries(np.random.default_rng(0))
    assert np.bincount(query + 1).tolist() == [5, 20, 20]


def test_a_pair_without_a_judgment_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must have a judgment\. Got 1 that have one instead\."):
        judged.Judged(np.array([0]), np.array([0]), np.array([0]), np.zeros(2, int), None)


# -- Cells ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    n: int


def double(shared: list[int], cell: Number) -> cells.Arrays:
    shared.append(cell.n)
    return {"value": np.array(2 * cell.n)}


def times(factor: int, cell: Number) -> cells.Arrays:
    return {"value": np.array(factor * cell.n)}


def test_a_finished_cell_is_not_computed_again(tmp_path: Path) -> None:
    done: list[int] = []
    cells.compute(double, done, [Number(1), Number(2)], cache=tmp_path)
    found = cells.compute(double, done, [Number(2), Number(3)], cache=tmp_path)
    assert done == [1, 2, 3]
    assert [int(arrays["value"]) for arrays in found] == [4, 6]


def test_cells_of_other_data_are_not_mistaken(tmp_path: Path) -> None:
    one = cells.compute(times, 2, [Number(5)], tag="a", cache=tmp_path)
    other = cells.compute(times, 3, [Number(5)], tag="b", cache=tmp_path)
    assert (int(one[0]["value"]), int(other[0]["value"])) == (10, 15)


def test_processes_give_what_one_gives_in_the_same_order() -> None:
    told: list[tuple[int, int]] = []
    found = cells.compute(
        times, 3, [Number(n) for n in range(5)], processes=2, progress=lambda *at: told.append(at)
    )
    assert [int(arrays["value"]) for arrays in found] == [0, 3, 6, 9, 12]
    assert told == [(n, 5) for n in range(1, 6)]


RUN = """
from pathlib import Path
from ranking.experiments import cells
from tests.ranking.test_experiments import Number, linger
if __name__ == "__main__":
    cells.compute(linger, Path({folder!r}), [Number(1), Number(2)], processes=2)
"""


def linger(folder: Path, cell: Number) -> cells.Arrays:
    (folder / f"{cell.n}.pid").write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)
    return {}


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text(encoding="utf-8").split()[2] != "Z"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="It looks for processes in /proc.")
def test_workers_end_with_the_run_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(RUN.format(folder=str(tmp_path)), encoding="utf-8")
    root = str(Path(__file__).parents[2])
    run = subprocess.Popen([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": root})
    try:
        wait_for(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    finally:
        run.kill()
        run.wait()
    workers = [int(file.read_text(encoding="utf-8")) for file in tmp_path.glob("*.pid")]
    wait_for(lambda: not any(alive(pid) for pid in workers))


def wait_for(condition: Callable[[], bool], seconds: float = 50) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "It did not happen in time."
        time.sleep(0.05)


# -- Replay ---------------------------------------------------------------------------------------


def test_replay_tells_cost_and_quality_of_every_router() -> None:
    routers = [replay.parse_router(text) for text in ("single", "if-good-3", "3-overlap")]
    found = replay.replay(lists(), [replay.Setting(r) for r in routers], draws=2)
    assert list(found) == ["single", "if-good-3", "3-overlap"]
    assert found["single"].cost.tolist() == [1.0, 1.0]
    assert found["3-overlap"].cost.tolist() == [3.0, 3.0]
    assert (found["if-good-3"].cost > 1).all()
    assert found["single"].ndcg.shape == (2, 2, 5, 8)
    assert found["3-overlap"].quality() > found["single"].quality()


def test_replay_goes_on_from_its_cache(tmp_path: Path) -> None:
    setting = [replay.Setting(IfGood(3))]
    first = replay.replay(lists(), setting, draws=2, cache=tmp_path)
    (again,) = replay.replay(lists(), setting, draws=2, cache=tmp_path).values()
    assert len(list(tmp_path.glob("*.npz"))) == 2
    assert np.array_equal(again.ndcg, first["if-good-3"].ndcg, equal_nan=True)


@pytest.mark.parametrize("text", ["single", "3-overlap", "if-good-3", "good-till-bad-11"])
def test_a_router_is_read_as_it_is_written(text: str) -> None:
    assert replay.parse_router(text).label == text


def test_a_router_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be written like one of .* Got 3-underlap instead"):
        replay.parse_router("3-underlap")


def test_the_command_prints_and_writes_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "judgments.csv", tmp_path / "table.csv"
    rows = [f"{d % 2},{d},{j},{(d + j) % 5},{d % 5}" for d in range(10) for j in range(3)]
    file.write_text("query,document,judge,grade,truth\n" + "\n".join(rows), encoding="utf-8")
    arguments = ["--on", str(file), "--router", "single", "--router", "if-good-2"]
    assert replay.main([*arguments, "--draws", "2", "--csv", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "| single | 1.0000 |" in printed
    assert "against single" in printed
    assert out.read_text(encoding="utf-8").startswith("router,judgments per pair,")
    assert replay.main([*arguments, "--draws", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["title"].endswith(", 2 draws")
    assert said["head"][:2] == ["router", "judgments per pair"]
    assert said["rows"][0][:2] == ["single", 1.0]


# -- Tables ---------------------------------------------------------------------------------------


def test_stars_mark_what_is_better_than_the_baseline_and_than_all() -> None:
    rng = np.random.default_rng(0)
    base = rng.random(50)
    values = {
        "baseline": base,
        "alike": base + rng.normal(0, 0.1, 50),
        "better": base + 0.2 + rng.normal(0, 0.1, 50),
        "best": base + 0.5 + rng.normal(0, 0.1, 50),
    }
    found = tables.lines(values, "baseline")
    assert [line.stars for line in found] == ["", "", "*", "**"]
    assert found[2].difference == pytest.approx(0.2, abs=0.05)
    assert found[0].p == 1


def test_a_table_needs_its_baseline() -> None:
    with pytest.raises(ValueError, match=r"baseline must be one of a\. Got b instead\."):
        tables.lines({"a": np.zeros(3)}, "b")


def test_a_table_shows_what_is_not_known_as_a_dash() -> None:
    shown = tables.markdown(["name", "mean"], [["a", 0.5], ["b", float("nan")]])
    assert shown == "| name | mean |\n| --- | --- |\n| a | 0.5000 |\n| b | — |"


# -- The comparison of if-it-pays -----------------------------------------------------------------


def result(cost: list[float], quality: list[float]) -> replay.Result:
    values = np.array(quality).reshape(1, -1, 1, 1)
    return replay.Result(
        replay.Setting(IfGood(3), ("mean",)), np.array(cost), np.zeros(len(cost)), values
    )


def test_the_saving_is_the_share_of_the_extra_judgments() -> None:
    frontier = paying.curve([result([1.2, 1.2], [0.5, 0.5]), result([1.8, 1.8], [0.8, 0.8])])
    found = paying.saving(result([3.0, 3.0], [0.65, 0.65]), frontier)
    assert found.reached_at == pytest.approx(1.5)
    assert found.saved == pytest.approx(0.75)
    assert (found.low, found.high) == pytest.approx((0.75, 0.75))


@pytest.mark.parametrize("target", [0.4, 0.9])
def test_nothing_is_claimed_where_the_frontier_does_not_go(target: float) -> None:
    frontier = paying.curve([result([1.2], [0.5]), result([1.8], [0.8])])
    assert np.isnan(paying.saving(result([3.0], [target]), frontier).saved)


def test_the_lead_is_taken_at_equal_cost() -> None:
    frontier = paying.curve([result([1.2], [0.5]), result([1.8], [0.8])])
    assert paying.lead(result([1.5], [0.6]), frontier)[0] == pytest.approx(0.05)


@pytest.mark.real_data
def test_if_it_pays_saves_half_of_the_extra_judgments_on_the_web(real_data: Path) -> None:
    settings_ = [replay.Setting(IfGood(3))]
    settings_ += [replay.Setting(IfItPays(price, cap=15)) for price in (0.003, 0.001, 0.0005)]
    found = list(replay.replay(judged.web_search(real_data), settings_, draws=4).values())
    assert paying.saving(found[0], paying.curve(found[1:])).saved > 0.45


@pytest.mark.real_data
@pytest.mark.parametrize("condition", ["High", "NoHigh"])
def test_news_judgments_are_read_with_their_queries(real_data: Path, condition: str) -> None:
    data = judged.nyt(real_data, condition)
    assert len(data) == 120
    assert data.query is not None
    assert np.bincount(data.query).tolist() == [12] * 10
    assert set(data.grade.tolist()) == {0, 2, 4}
