"""The champion at work: by the command and by the API."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotate import imports, scoring, tokens, training
from annotate.formats import Row
from annotate.models import ApiToken, Campaign, Job, Membership, TrainingRun, User
from annotate.scoring import Candidate
from tests.annotate.rankers import fits_here, label_by_truth, letor, train
from tests.conftest import signed_in

__all__ = ["fits_here"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fits_here")]

RANK = "/api/v1/campaigns/letor/rank/"
VECTORS = [
    {"id": "low", "features": [0.1, 0.5]},
    {"id": "high", "features": [3.9, 0.5]},
    {"id": "middle", "features": [2.0, 0.5]},
]


@pytest.fixture
def vectors(dana: User) -> Campaign:
    """A champion that was trained on feature vectors."""
    campaign = letor(dana)
    train(campaign)
    return campaign


@pytest.fixture
def words(dana: User) -> Campaign:
    """A champion that was trained on texts: titles with the words of the query are best."""
    campaign = Campaign.objects.create(slug="words", name="Words", created_by=dana, state="open")
    Membership.objects.create(campaign=campaign, user=dana, role=Membership.Role.MANAGER)
    rows = [
        Row(
            line=1,
            query_key=f"q{q}",
            query=f"word{q} thing",
            document_key=f"{q}-{d}",
            title=f"word{q} thing" if d == q % 4 else "another matter",
            truth=4 if d == q % 4 else 0,
        )
        for q in range(16)
        for d in range(4)
    ]
    imports.load_rows(campaign, rows)
    label_by_truth(campaign)
    train(campaign)
    return campaign


def post(user: User, body: Any, path: str = RANK, scope: str = tokens.MANAGE) -> Any:
    raw = tokens.create(user, f"test {ApiToken.objects.count()}", [scope], 1)
    client = Client(headers={"authorization": f"Bearer {raw}"})
    return client.post(path, json.dumps(body), content_type="application/json")


# -- API ------------------------------------------------------------------------------------------


def test_feature_vectors_come_back_best_first(vectors: Campaign, dana: User) -> None:
    answer = post(dana, {"query": "any", "candidates": VECTORS})
    assert answer.status_code == 200, answer.content
    said = answer.json()
    assert (said["run"], said["ranker"]) == (1, "lambdamart")
    assert [row["id"] for row in said["ranked"]] == ["high", "middle", "low"]
    assert [row["place"] for row in said["ranked"]] == [1, 2, 3]
    scores = [row["score"] for row in said["ranked"]]
    assert scores == sorted(scores, reverse=True)


def test_texts_come_back_best_first(words: Campaign, dana: User) -> None:
    candidates = [
        {"id": "other", "title": "another matter"},
        {"id": "match", "title": "word3 thing"},
    ]
    answer = post(
        dana, {"query": "word3 thing", "candidates": candidates}, "/api/v1/campaigns/words/rank/"
    )
    assert answer.status_code == 200, answer.content
    assert [row["id"] for row in answer.json()["ranked"]] == ["match", "other"]


def test_no_candidates_are_no_error(vectors: Campaign, dana: User) -> None:
    assert post(dana, {"query": "", "candidates": []}).json()["ranked"] == []


@pytest.mark.parametrize(
    ("candidate", "field"),
    [
        ({"id": "a", "features": ["1", 2]}, "candidates.0.features.0"),
        ({"id": "a", "features": [True, 2]}, "candidates.0.features.0"),
        ({"id": "a", "features": [1e301, 2]}, "candidates.0.features.0"),
        ({"id": 7, "features": [1, 2]}, "candidates.0.id"),
        ({"features": [1, 2]}, "candidates.0.id"),
        ({"id": "a", "rank": 0}, "candidates.0.rank"),
        ({"id": "a", "extra": 1}, "candidates.0.extra"),
    ],
)
def test_bad_candidate_is_named(vectors: Campaign, dana: User, candidate: Any, field: str) -> None:
    answer = post(dana, {"query": "q", "candidates": [candidate]})
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_wrong_number_of_features_is_a_conflict_that_names_them(
    vectors: Campaign, dana: User
) -> None:
    answer = post(dana, {"query": "q", "candidates": [{"id": "a", "features": [1]}]})
    assert answer.status_code == 409
    assert "the 2 features feature_1, feature_2" in answer.json()["detail"]
    assert "Got 1 for a instead." in answer.json()["detail"]


def test_without_a_champion_the_answer_says_what_to_do(dana: User) -> None:
    letor(dana)
    answer = post(dana, {"query": "q", "candidates": VECTORS})
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "This campaign has no champion yet. Train a ranker first.",
    )


def test_a_changed_model_file_ranks_nothing(vectors: Campaign, dana: User, data_dir: Path) -> None:
    assert post(dana, {"query": "q", "candidates": VECTORS}).status_code == 200
    path = data_dir / "models" / TrainingRun.objects.get().model_file
    path.write_text(path.read_text().replace("num_leaves", "num_heaves"))
    answer = post(dana, {"query": "q", "candidates": VECTORS})
    assert answer.status_code == 409
    assert "was changed after it was saved and is refused" in answer.json()["detail"]


def test_only_managers_of_the_campaign_may_rank(
    vectors: Campaign, dana: User, alice: User, charlie: User
) -> None:
    Membership.objects.create(campaign=vectors, user=alice, role=Membership.Role.JUDGE)
    body = {"query": "q", "candidates": VECTORS}
    for user in (alice, charlie):
        answer = signed_in(user).post(RANK, body, content_type="application/json")
        assert answer.status_code == 404
    assert post(dana, body, scope=tokens.JUDGE).status_code == 403
    assert Client().post(RANK, body, content_type="application/json").status_code == 401


def test_a_run_can_be_asked_for_once(vectors: Campaign, dana: User) -> None:
    path = "/api/v1/campaigns/letor/train/"
    answer = post(dana, {"ranker": "ranksvm"}, path)
    assert (answer.status_code, answer.json()) == (
        202,
        {"run": 2, "state": "waiting", "ranker": "ranksvm"},
    )
    assert Job.objects.filter(kind="train", state=Job.State.DUE).count() == 1
    again = post(dana, {}, path)
    assert (again.status_code, again.json()["detail"]) == (409, "Run 2 is waiting already.")
    assert post(dana, {"ranker": "oracle"}, path).status_code == 400


# -- Commands -------------------------------------------------------------------------------------


def command(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_rank_command_reads_csv_with_features_by_name(vectors: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "candidates.csv"
    file.write_text("id,feature_2,feature_1\nlow,0.5,0.1\nhigh,0.5,3.9\n")
    out, err = command("rank", "letor", str(file))
    lines = out.splitlines()
    assert lines[0] == "place,id,score,place_before"
    assert [line.split(",")[1] for line in lines[1:]] == ["high", "low"]
    assert [line.split(",")[3] for line in lines[1:]] == ["2", "1"]
    assert err == "By run 1 (lambdamart).\n"


def test_rank_command_reads_json_lines_with_texts(words: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "candidates.jsonl"
    rows = [{"title": "another matter"}, {"title": "word3 thing", "url": "https://example.org/3"}]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    out, _ = command("rank", "words", "--query", "word3 thing", str(file))
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == ["https://example.org/3", "1"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["rank", "nowhere", "x.csv"], "There is no campaign nowhere."),
        (["rank", "letor", "x.csv"], "No such file"),
        (["train", "nowhere"], "There is no campaign nowhere."),
    ],
)
def test_commands_say_what_is_wrong(vectors: Campaign, arguments: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        command(*arguments)


def test_train_command_does_all_of_it_now(dana: User) -> None:
    campaign = letor(dana)
    out, _ = command("train", "letor", "--ranker", "ranksvm", "--now")
    assert out.startswith("NDCG@3 1.0000 on 24 queries. ")
    assert out.endswith("Run 1 is the champion now: it is the first.\n")
    assert training.current(campaign) is not None


def test_train_command_leaves_it_to_a_worker(dana: User) -> None:
    letor(dana)
    assert command("train", "letor") == ("Run 1 waits for a worker.\n", "")
    with pytest.raises(CommandError, match="Run 1 is waiting already"):
        command("train", "letor")


# -- The order ------------------------------------------------------------------------------------


def test_equal_scores_stay_in_the_order_sent(vectors: Campaign) -> None:
    same = [Candidate(str(number), [1.0, 1.0]) for number in range(50)]
    _, ranked = scoring.rank(vectors, "", same)
    assert [one.name for one in ranked] == [one.name for one in same]
