"""The studies, small and seeded: what each computes, and that its command says it."""

from pathlib import Path

import numpy as np
import pytest

from ranking.experiments import letor, limit, overlap, robust, shallow
from ranking.experiments.judged import Judged, made_lists, simulated
from ranking.schemes import IfGood, IfGoodWeighted, KOverlap, Single
from ranking.simulation import SKILLS

EXPERT = SKILLS["expert"] / SKILLS["expert"].sum(axis=1, keepdims=True)


def collection(grades: int = 5, queries: int = 15, documents: int = 20) -> letor.Letor:
    """Documents whose first feature is their grade with some noise, the second nothing at all."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, grades, queries * documents)
    qid = np.repeat(np.arange(queries), documents)
    X = np.column_stack([y + rng.normal(0, 0.5, len(y)), rng.random(len(y))])
    return letor.Letor("made", X, y, qid, letor.parts(qid))


def crowd() -> Judged:
    truth, query = made_lists((0.2, 0.2, 0.2, 0.2, 0.2), 4, 20, rng=0)
    return simulated(truth, query, SKILLS["crowd"], per_pair=6, judges=6, rng=1)


# -- Overlap --------------------------------------------------------------------------------------


def test_the_nine_settings_of_the_study_are_all_there() -> None:
    names = [setting.name for setting in overlap.NINE]
    assert len(set(names)) == 9
    assert {"baseline", "mv3", "mv11", "highest-3", "good-till-bad", "if-good-x3"} <= set(names)


@pytest.mark.parametrize(
    ("setting", "cost", "training"),
    [
        (letor.Trained("baseline", Single()), 1, 1),
        (letor.Trained("3-overlap", KOverlap(3)), 3, 3),
        (letor.Trained("mv3", KOverlap(3), "majority"), 3, 1),
        (letor.Trained("gain", KOverlap(3), letor.EXPECTED), 3, 1),
    ],
)
def test_settings_cost_what_they_collect_and_train_on(
    setting: letor.Trained, cost: int, training: int
) -> None:
    found = letor.train(collection(), letor.Cell(setting, "expert", "lambdamart", 0))
    assert float(found["cost"]) == cost
    assert float(found["training"]) == training
    assert found["ndcg"].shape == (5, 15)


def test_weights_cost_training_rows_and_no_judgments() -> None:
    data = collection()
    setting = letor.Trained("if-good-x3", IfGoodWeighted(3))
    found = letor.train(data, letor.Cell(setting, "expert", "lambdamart", 0))
    plain = letor.train(
        data, letor.Cell(letor.Trained("baseline", Single()), "expert", "lambdamart", 0)
    )
    assert float(found["cost"]) == 1
    assert float(found["training"]) > 1
    assert float(found["ratio"]) == pytest.approx(float(plain["ratio"]) / 3)


def test_better_labels_train_better_rankers() -> None:
    settings = [
        letor.Trained("baseline", Single()),
        letor.Trained("true grades", Single(), letor.TRUE),
    ]
    found = letor.train_all(collection(), settings, skill="crowd", draws=2)
    assert found["true grades"].units().mean() > found["baseline"].units().mean()


def test_the_same_draw_gives_the_same_figures(tmp_path: Path) -> None:
    settings = [letor.Trained("if-good-3", IfGood(3))]
    once = letor.train_all(collection(), settings, skill="crowd", draws=1, cache=tmp_path)
    again = letor.train_all(collection(), settings, skill="crowd", draws=1)
    assert (once["if-good-3"].ndcg == again["if-good-3"].ndcg).all()


def test_the_table_of_settings_has_costs_measures_and_tests() -> None:
    settings = [letor.Trained("baseline", Single()), letor.Trained("mv3", KOverlap(3), "majority")]
    found = letor.train_all(collection(), settings, skill="crowd", draws=2)
    head, rows = overlap.table(found)
    assert head[:4] == ["setting", "labelling", "training", "Fair- : Good+"]
    assert [row[0] for row in rows] == ["baseline", "mv3"]
    assert rows[1][1:3] == [3.0, 1.0]
    assert all(len(row) == len(head) for row in rows)


def test_if_it_pays_spends_what_if_good_costs() -> None:
    data = collection(queries=20)
    by_name = {setting.name: setting for setting in overlap.paying(data, "expert")}
    names = ["if-good-3", "if-it-pays, expected gain", "if-it-pays to 3, expected gain"]
    found = letor.train_all(data, [by_name[name] for name in names], skill="expert", draws=1)
    rule, ours, three = (float(found[name].cost.mean()) for name in names)
    assert ours == pytest.approx(rule, abs=0.1)
    assert three == pytest.approx(3, abs=0.01)


def test_the_featured_judges_are_those_with_most_of_a_grade() -> None:
    judged = crowd()
    found = overlap.featured(judged)
    assert [one.grade for one in found] == [4, 3, 2, 1, 0]
    shares = [np.mean(judged.grade[judged.judge == judge] == 4) for judge in range(6)]
    assert found[0].judge == int(np.argmax(shares))
    assert found[0].test.counts[0].sum() == found[0].pairs


def test_the_histogram_has_judgments_beside_the_truth() -> None:
    judged = crowd()
    said, true = overlap.histogram(judged)
    assert said.sum() == pytest.approx(1)
    assert true[0] == pytest.approx(np.mean(judged.truth == 0))


# -- Limit ----------------------------------------------------------------------------------------


def test_three_grades_make_a_confusion_of_three() -> None:
    small = limit.three_grades(EXPERT)
    assert small.shape == (3, 3)
    assert small.sum(axis=1) == pytest.approx([1, 1, 1])
    assert small[1, 1] == pytest.approx(EXPERT[2, 2])
    assert small[0, 0] == pytest.approx((EXPERT[0, :2].sum() + EXPERT[1, :2].sum()) / 2)


def test_the_ceiling_predicts_one_judge_by_another() -> None:
    truth, query = made_lists((0.4, 0.3, 0.15, 0.1, 0.05), 30, 20, rng=0)
    judged = simulated(truth, query, SKILLS["expert"], per_pair=8, judges=20, rng=1)
    found = limit.predict(judged, draws=20)
    assert found.predicted.shape == (30,)
    assert found.predicted.mean() == pytest.approx(found.actual.mean(), abs=0.02)
    assert found.correlation > 0.3


# -- Robust ---------------------------------------------------------------------------------------


def test_noise_takes_quality_and_raises_pnoise() -> None:
    clean, half = robust.curves(collection(3), ["listnet"], [0.0, 0.5], draws=2)
    assert (clean.dnoise, clean.pnoise, clean.ndcg_error) == (0.0, 0.0, 0.0)
    assert half.pnoise > 0.2
    assert half.ndcg < clean.ndcg
    assert half.ap < clean.ap


# -- Shallow --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "queries", "rows"),
    [
        (shallow.Cell(1.0, 1.0, 0), 10, 200),
        (shallow.Cell(0.5, 1.0, 0), 5, 100),
        (shallow.Cell(1.0, 0.5, 0), 10, 100),
        (shallow.Cell(1.0, 0.01, 0), 10, 20),
        (shallow.Cell(1.0, 0.5, 0, depth=8), 10, 40),
    ],
)
def test_a_sample_has_its_share(cell: shallow.Cell, queries: int, rows: int) -> None:
    qid = np.repeat(np.arange(10), 20)
    found = shallow.sample(qid, cell, np.random.default_rng(0))
    assert len(np.unique(qid[found])) == queries
    assert len(found) == rows


def test_both_ways_to_halve_cost_the_same() -> None:
    found = shallow.points(collection(), shares=(1.0, 0.5), draws=2)
    assert [(point.halved, point.share) for point in found] == [
        ("queries", 1.0),
        ("queries", 0.5),
        ("documents", 0.5),
    ]
    assert found[1].judgments == pytest.approx(found[2].judgments, rel=0.05)
    assert found[1].queries == found[2].queries / 2
    assert all(0 < point.ndcg < 1 for point in found)


# -- Collections and commands ---------------------------------------------------------------------


def test_a_collection_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be one of mslr, mq2008, ohsumed\. Got td2003"):
        letor.read_collection(tmp_path, "td2003")
    with pytest.raises(ValueError, match=r"must hold LETOR files\. Got none instead\."):
        letor.read_collection(tmp_path, "mslr")


@pytest.mark.real_data
def test_the_collections_have_five_parts_by_query(real_data: Path) -> None:
    for name, rows in (("mslr", 15_469), ("mq2008", 15_211), ("ohsumed", 16_140)):
        data = letor.read_collection(real_data, name)
        assert len(data.y) == rows
        assert len({(q, p) for q, p in zip(data.qid, data.part, strict=True)}) == len(
            np.unique(data.qid)
        )
        assert set(data.part.tolist()) == {0, 1, 2, 3, 4}


@pytest.mark.real_data
def test_the_commands_print_their_tables(
    real_data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = ["--data", str(real_data), "--draws", "1"]
    parts = ["--part", "best-judge", "--part", "featured", "--part", "histogram"]
    assert overlap.main([*folder, *parts]) == 0
    assert limit.main([*folder, "--part", "predict"]) == 0
    robust_ = ["--collection", "ohsumed", "--ranker", "listnet", "--step", "10"]
    assert robust.main([*folder, *robust_, "--csv", str(tmp_path / "robust.csv")]) == 0
    printed = capsys.readouterr().out
    assert "Best judge alone\n\n| right | pairs |\n| --- | --- |\n| 0.7686 | 765 |" in printed
    assert "| web | 79 |" in printed
    assert "| ohsumed | listnet | 0.5000 |" in printed
    assert (tmp_path / "robust.csv").read_text(encoding="utf-8").count("\n") == 3
