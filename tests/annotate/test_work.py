"""The page of background work: what runs, waits and failed, and what may be done about it."""

import re
from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse

from annotate import campaigns, jobs
from annotate.models import Campaign, Job, User
from tests.conftest import person, signed_in

PAGE = "/campaigns/library/jobs/"


def shown(client: Client) -> str:
    html = client.get(PAGE).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


@pytest.fixture
def job(campaign: Campaign) -> Job:
    made = jobs.enqueue("train", campaign)
    assert made is not None
    return made


def change(client: Client, job: Job, action: str) -> int:
    address = reverse("job_change", args=["library", job.pk])
    return client.post(address, {"action": action}).status_code


def test_page_says_plainly_that_no_worker_runs(campaign: Campaign, dana_client: Client) -> None:
    assert "No background worker is running." in shown(dana_client)
    jobs.worker_seen("worker")
    assert "No background worker is running." not in shown(dana_client)


def test_empty_page_says_when_work_comes(campaign: Campaign, dana_client: Client) -> None:
    assert "Nothing runs and nothing waits." in shown(dana_client)


def test_job_is_shown_through_its_life(job: Job, dana_client: Client) -> None:
    assert "Train a ranker due at" in shown(dana_client)
    taken = jobs.take(job.pk)
    assert taken is not None
    jobs.keep(taken, 0.42, "Fold 2 of 5")
    page = shown(dana_client)
    assert "Fold 2 of 5" in page
    assert "42 %" in page
    jobs.finish(taken, "NDCG@3 0.714.")
    Job.objects.update(finished_at=F("started_at") + timedelta(seconds=2.5))
    page = shown(dana_client)
    assert "Done lately Work Result Took Finished Train a ranker NDCG@3 0.714. 2.5 s" in page


def test_failed_job_shows_its_reason_and_can_be_tried_again(job: Job, dana_client: Client) -> None:
    taken = jobs.take(job.pk)
    assert taken is not None
    Job.objects.filter(pk=job.pk).update(attempts=jobs.MAX_ATTEMPTS)
    taken.refresh_from_db()
    jobs.fail(taken, ValueError("No labels <yet>."))
    page = shown(dana_client)
    assert "ValueError: No labels &lt;yet&gt;." in page
    assert "parked" in page
    assert "What the program says ValueError" in page
    assert change(dana_client, job, "retry") == 302
    assert "The job is due again." in shown(dana_client)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (Job.State.DUE, 0)


def test_job_that_will_be_tried_again_shows_why(job: Job, dana_client: Client) -> None:
    taken = jobs.take(job.pk)
    assert taken is not None
    jobs.fail(taken, ValueError("No labels yet."))
    page = shown(dana_client)
    assert "1 of 3 attempts made" in page
    assert "ValueError: No labels yet." in page
    assert "trying again" in page


def test_waiting_job_can_be_cancelled_once(job: Job, dana_client: Client) -> None:
    assert change(dana_client, job, "cancel") == 302
    job.refresh_from_db()
    assert (job.state, job.message) == (Job.State.FAILED, "Cancelled.")
    assert "The job is cancelled." in shown(dana_client)
    change(dana_client, job, "cancel")
    assert "The job had ended." in shown(dana_client)


def test_work_that_is_due_already_is_not_tried_again(
    job: Job, campaign: Campaign, dana_client: Client
) -> None:
    change(dana_client, job, "cancel")
    jobs.enqueue("train", campaign)
    change(dana_client, job, "retry")
    assert "The same work is due already." in shown(dana_client)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED


def test_unknown_action_changes_nothing(job: Job, dana_client: Client) -> None:
    assert change(dana_client, job, "explode") == 302
    job.refresh_from_db()
    assert job.state == Job.State.DUE
    assert "An action must be retry or cancel. Got &#x27;explode&#x27; instead." in shown(
        dana_client
    )


def test_live_part_is_json(job: Job, dana_client: Client) -> None:
    live = dana_client.get(PAGE, headers={"accept": "application/json"}).json()
    assert "Train a ranker" in live["fragments"]["jobs"]


def test_jobs_of_others_do_not_exist(
    job: Job, dana: User, dana_client: Client, alice_client: Client, client: Client
) -> None:
    other = campaigns.create(dana, {"name": "Other"})
    address = reverse("job_change", args=[other.slug, job.pk])
    assert dana_client.post(address, {"action": "cancel"}).status_code == 404
    assert change(alice_client, job, "cancel") == 404
    assert change(signed_in(person("erin", User.Role.MANAGER)), job, "cancel") == 404
    assert change(client, job, "cancel") == 302
    job.refresh_from_db()
    assert job.state == Job.State.DUE


def test_change_refuses_get(job: Job, dana_client: Client) -> None:
    address = reverse("job_change", args=["library", job.pk])
    assert dana_client.get(address).status_code == 405
