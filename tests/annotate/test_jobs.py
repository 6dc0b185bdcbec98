"""Background work as rows: nothing lost, nothing done twice, whatever dies."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from kombu.exceptions import OperationalError

from annotate import jobs, labels, schedule, tasks
from annotate.clock import now_plus
from annotate.jobs.bell import Doorbell
from annotate.models import Campaign, Job, Pair, User, Worker
from tests.annotate.test_routing import B, G, judge
from tests.annotate.test_start import wait_until

OnCommit = Callable[..., Any]


def enqueued(campaign: Campaign, **options: Any) -> Job:
    job = jobs.enqueue("aggregate", campaign, **options)
    assert job is not None
    return job


def taken(job: Job) -> Job:
    mine = jobs.take(job.pk)
    assert mine is not None
    return mine


def lose(job: Job) -> None:
    """The worker that has it is gone."""
    Job.objects.filter(pk=job.pk).update(leased_until=now_plus(seconds=-1))


def state(job: Job) -> str:
    return Job.objects.get(pk=job.pk).state


# -- Enqueue and ring -----------------------------------------------------------------------------


def test_enqueue_rings_once_after_the_commit(
    campaign: Campaign, rings: list[int], django_capture_on_commit_callbacks: OnCommit
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = enqueued(campaign)
        assert rings == []
    assert rings == [job.pk]


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_transaction_leaves_no_job_and_no_ring(
    campaign: Campaign, rings: list[int]
) -> None:
    with transaction.atomic():
        enqueued(campaign)
        transaction.set_rollback(True)
    assert not Job.objects.exists()
    assert rings == []


def test_enqueue_coalesces_what_is_due(campaign: Campaign) -> None:
    enqueued(campaign)
    assert jobs.enqueue("aggregate", campaign) is None
    assert jobs.enqueue("train", campaign) is not None
    assert jobs.enqueue("aggregate", campaign, key="other") is not None


def test_enqueue_writes_another_while_one_runs(campaign: Campaign) -> None:
    taken(enqueued(campaign))
    assert enqueued(campaign).state == Job.State.DUE


def test_enqueue_writes_once_in_a_period(campaign: Campaign) -> None:
    job = taken(enqueued(campaign, period="24h-1"))
    assert jobs.enqueue("aggregate", campaign, period="24h-1") is None
    jobs.finish(job)
    assert jobs.enqueue("aggregate", campaign, period="24h-1") is None
    assert jobs.enqueue("aggregate", campaign, period="24h-2") is not None


@pytest.mark.parametrize("error", [OperationalError("away"), ConnectionRefusedError("away")])
def test_a_broker_that_is_away_harms_nobody(
    campaign: Campaign,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("annotate.jobs.app.send_task", away)
    monkeypatch.setattr("annotate.jobs.bell.bell", Doorbell())
    job = enqueued(campaign)
    jobs.ring(job.pk)
    assert "the broker cannot be reached" in caplog.text
    assert state(job) == Job.State.DUE


def test_nobody_asks_for_a_broker_that_was_just_away(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def away(_name: str, args: list[int], **_: Any) -> None:
        asked.extend(args)
        raise OperationalError("away")

    monkeypatch.setattr("annotate.jobs.app.send_task", away)
    bell = Doorbell()
    assert [bell.ring(number) for number in (1, 2, 3)] == [False] * 3
    assert asked == [1]
    bell.silent_until = 0
    assert not bell.ring(4)
    assert asked == [1, 4]


def test_sweep_rings_no_more_than_the_broker_needs(
    campaign: Campaign, rings: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [enqueued(campaign, key=str(number)).pk for number in range(5)]
    monkeypatch.setattr("annotate.jobs.bell.MESSAGES", 3)
    assert jobs.sweep() == made[:3] == rings


def test_sweep_goes_on_without_a_broker(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: Doorbell) -> int:
        raise OperationalError("away")

    monkeypatch.setattr(Doorbell, "room", away)
    job = taken(enqueued(campaign))
    lose(job)
    assert jobs.sweep() == []
    assert state(job) == Job.State.DUE


# -- Take, keep, finish ---------------------------------------------------------------------------


def test_take_leases_a_job_once(campaign: Campaign) -> None:
    job = enqueued(campaign)
    assert taken(job).attempts == 1
    assert jobs.take(job.pk) is None


def test_take_waits_until_a_job_is_due(campaign: Campaign, rings: list[int]) -> None:
    job = enqueued(campaign, delay=60)
    assert jobs.take(job.pk) is None
    assert jobs.sweep() == []
    Job.objects.update(due_at=now_plus(seconds=-1))
    assert jobs.sweep() == [job.pk] == rings


def test_keep_says_how_far_the_work_is(campaign: Campaign) -> None:
    job = taken(enqueued(campaign))
    jobs.keep(job, 0.25, "a quarter")
    row = Job.objects.get()
    assert (row.progress, row.message) == (0.25, "a quarter")


def test_keep_and_finish_are_refused_after_the_lease_went_to_another(campaign: Campaign) -> None:
    late = taken(enqueued(campaign))
    lose(late)
    jobs.sweep()
    quick = taken(late)
    with pytest.raises(jobs.LostJobError, match="no longer this worker's"):
        jobs.keep(late, 0.5)
    with pytest.raises(jobs.LostJobError, match="no longer this worker's"):
        jobs.finish(late)
    jobs.finish(quick, "Done.")
    assert Job.objects.get().message == "Done."


def test_a_late_worker_does_not_fail_the_job_of_another(campaign: Campaign) -> None:
    late = taken(enqueued(campaign))
    lose(late)
    jobs.sweep()
    taken(late)
    jobs.fail(late, ValueError("too late"))
    assert state(late) == Job.State.RUNNING


# -- What goes wrong ------------------------------------------------------------------------------


def test_a_failed_job_is_tried_again_later_and_parked_after_three(campaign: Campaign) -> None:
    job = enqueued(campaign)
    for attempt in (1, 2, 3):
        Job.objects.update(due_at=now_plus(seconds=-1))
        mine = taken(job)
        jobs.fail(mine, ValueError("k must be at least 1. Got 0 instead."))
        assert state(job) == (Job.State.FAILED if attempt == 3 else Job.State.DUE)
        assert jobs.take(job.pk) is None  # not before a while
    row = Job.objects.get()
    assert row.message == "ValueError: k must be at least 1. Got 0 instead."
    assert row.error.startswith("ValueError")


def test_sweep_gives_back_what_a_dead_worker_held(campaign: Campaign, rings: list[int]) -> None:
    job = taken(enqueued(campaign))
    assert jobs.sweep() == []
    lose(job)
    assert jobs.sweep() == [job.pk] == rings
    assert state(job) == Job.State.DUE


def test_sweep_parks_a_job_that_took_three_workers_with_it(campaign: Campaign) -> None:
    job = enqueued(campaign)
    for _ in range(jobs.MAX_ATTEMPTS):
        lose(taken(job))
        jobs.sweep()
    assert state(job) == Job.State.FAILED
    assert Job.objects.get().message == "Parked: the worker was lost 3 times."


def test_sweep_does_not_bring_back_a_job_that_is_due_a_second_time(campaign: Campaign) -> None:
    lost = taken(enqueued(campaign))
    again = enqueued(campaign)
    lose(lost)
    assert jobs.sweep() == [again.pk]
    assert state(lost) == Job.State.FAILED
    lost.refresh_from_db()
    assert lost.message == "The worker was lost. The same work is due again."


def test_a_job_that_becomes_due_a_second_time_just_now_is_put_aside(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one is written between the look and the update."""
    failed = taken(enqueued(campaign))
    again = enqueued(campaign)
    monkeypatch.setattr("annotate.jobs.queue.already_due", lambda _: False)
    jobs.fail(failed, ValueError("too bad"))
    assert (state(failed), state(again)) == (Job.State.FAILED, Job.State.DUE)
    assert not jobs.retry(failed)
    assert (state(failed), state(again)) == (Job.State.FAILED, Job.State.DUE)


def test_sweep_forgets_what_was_done_days_ago(campaign: Campaign) -> None:
    old, recent, periodic = (enqueued(campaign, key=key) for key in "abc")
    Job.objects.filter(pk=periodic.pk).update(period="24h-1")
    for job in (old, recent, periodic):
        jobs.finish(taken(job))
    days_ago = now_plus(days=-jobs.KEEP_DAYS, seconds=-1)
    Job.objects.exclude(pk=recent.pk).update(finished_at=days_ago)
    jobs.sweep()
    assert set(Job.objects.values_list("pk", flat=True)) == {recent.pk, periodic.pk}


def test_sweep_rings_again_for_a_message_that_was_lost(
    campaign: Campaign, rings: list[int]
) -> None:
    job = enqueued(campaign)
    jobs.sweep()
    jobs.sweep()
    assert rings == [job.pk, job.pk]


def test_cancel_stops_a_due_and_a_running_job(campaign: Campaign) -> None:
    running = taken(enqueued(campaign))
    due = enqueued(campaign)
    for job in (running, due):
        assert jobs.cancel(job)
        assert state(job) == Job.State.FAILED
        assert not jobs.cancel(job)
    with pytest.raises(jobs.LostJobError):
        jobs.keep(running, 0.5)
    assert jobs.take(due.pk) is None


def test_retry_begins_a_parked_job_anew(
    campaign: Campaign, rings: list[int], django_capture_on_commit_callbacks: OnCommit
) -> None:
    job = enqueued(campaign)
    jobs.cancel(job)
    with django_capture_on_commit_callbacks(execute=True):
        jobs.retry(job)
    assert rings == [job.pk]
    assert taken(job).attempts == 1


def test_retry_leaves_a_job_that_is_done_or_due_again(campaign: Campaign) -> None:
    done = taken(enqueued(campaign))
    jobs.finish(done)
    jobs.retry(done)
    assert state(done) == Job.State.DONE
    parked = enqueued(campaign)
    jobs.cancel(parked)
    enqueued(campaign)
    jobs.retry(parked)
    assert state(parked) == Job.State.FAILED


# -- Envelopes ------------------------------------------------------------------------------------


def test_run_does_the_work_of_a_message_that_comes_three_times_once(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    def work(job: Job) -> None:
        done.append(job.pk)
        jobs.finish(job)

    monkeypatch.setitem(tasks.WORK, "aggregate", work)
    job = enqueued(campaign)
    for _ in range(3):
        tasks.run(job.pk)
    assert done == [job.pk]
    assert state(job) == Job.State.DONE


def test_run_keeps_the_reason_of_a_failure(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(job: Job) -> None:
        raise RuntimeError("The disk is full.")

    monkeypatch.setitem(tasks.WORK, "aggregate", work)
    job = enqueued(campaign)
    tasks.run(job.pk)
    row = Job.objects.get()
    assert (row.state, row.message) == (Job.State.DUE, "RuntimeError: The disk is full.")


@pytest.mark.django_db(transaction=True)
def test_run_writes_a_failure_down_over_a_new_connection(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks_the_connection(job: Job) -> None:
        assert connection.connection is not None
        connection.connection.close()
        Job.objects.count()

    monkeypatch.setitem(tasks.WORK, "aggregate", breaks_the_connection)
    job = enqueued(campaign)
    tasks.run(job.pk)
    assert state(job) == Job.State.DUE
    assert "closed" in Job.objects.get().message


@pytest.mark.django_db(transaction=True)
def test_run_survives_a_failure_that_cannot_be_written_down(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is away: the lease runs out, and the sweep gives the job back."""

    def away(*_: Any) -> None:
        raise DatabaseError("away")

    monkeypatch.setitem(tasks.WORK, "aggregate", away)
    monkeypatch.setattr("annotate.jobs.fail", away)
    job = enqueued(campaign)
    with pytest.raises(DatabaseError):
        tasks.run(job.pk)
    lose(job)
    jobs.sweep()
    assert state(job) == Job.State.DUE


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_kept_while_the_work_is_silent(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate.jobs.holding.HEARTBEAT_SECONDS", 0.05)
    job = taken(enqueued(campaign))
    with jobs.held(job):
        lose(job)
        wait_until(lambda: Job.objects.filter(leased_until__gt=now_plus(seconds=30)).exists())
    lose(job)
    jobs.sweep()
    assert state(job) == Job.State.DUE


def test_a_worker_that_is_stopped_gives_its_work_back_without_counting_it(
    campaign: Campaign,
) -> None:
    job = taken(enqueued(campaign))
    with jobs.held(job):
        tasks.stop()
    row = Job.objects.get()
    assert (row.state, row.attempts) == (Job.State.DUE, 0)
    with pytest.raises(jobs.LostJobError):
        jobs.finish(job)
    with jobs.held(taken(row)):
        pass
    tasks.stop()
    assert state(job) == Job.State.RUNNING, "It was in nobody's hands any more."


def test_a_worker_at_long_work_is_alive_without_a_sweep(campaign: Campaign) -> None:
    job = taken(enqueued(campaign))
    assert jobs.worker_alive()
    lose(job)
    assert not jobs.worker_alive()


def test_sweep_task_shows_that_a_worker_lives(campaign: Campaign) -> None:
    assert not jobs.worker_alive()
    tasks.sweep()
    assert jobs.worker_alive()
    Worker.objects.update(seen_at=now_plus(seconds=-jobs.WORKER_SILENT_SECONDS - 1))
    assert not jobs.worker_alive()


# -- Schedule -------------------------------------------------------------------------------------


def kinds() -> list[str]:
    return sorted(Job.objects.values_list("kind", flat=True))


def test_plan_wants_nothing_of_a_campaign_without_judgments(campaign: Campaign) -> None:
    schedule.plan()
    assert kinds() == []


def judged(campaign: Campaign, user: User, grade: int) -> None:
    """A judgment that has been counted."""
    judge(campaign, user, grade)
    labels.take_snapshot(campaign)


def test_plan_writes_one_training_a_period_however_many_beats_tick(
    campaign: Campaign, alice: User
) -> None:
    judged(campaign, alice, G)
    for _ in range(3):
        schedule.plan()
        Job.objects.filter(state=Job.State.DUE).update(state=Job.State.DONE)
    assert kinds().count("train") == 1


def test_plan_wants_a_full_pass_a_day(campaign: Campaign, alice: User) -> None:
    judged(campaign, alice, G)
    for _ in range(3):
        schedule.plan()
        Job.objects.filter(state=Job.State.DUE).update(state=Job.State.DONE)
    assert kinds().count("relabel") == 1


def test_plan_trains_after_so_many_judgments(campaign: Campaign, alice: User) -> None:
    Campaign.objects.update(retrain_hours=0, retrain_judgments=2)
    judged(campaign, alice, B)
    schedule.plan()
    assert "train" not in kinds()
    judged(campaign, alice, B)
    schedule.plan()
    assert "train" in kinds()


def test_plan_never_trains_where_nobody_wants_it(campaign: Campaign, alice: User) -> None:
    Campaign.objects.update(retrain_hours=0, retrain_judgments=0)
    judged(campaign, alice, B)
    schedule.plan()
    assert "train" not in kinds()


def test_plan_finds_pairs_whose_label_is_out_of_date(campaign: Campaign) -> None:
    Pair.objects.filter(pk=campaign.pairs.first().pk).update(stale=True)  # type: ignore[union-attr]
    schedule.plan()
    assert kinds() == ["aggregate"]


def test_whatever_is_enqueued_is_work_that_somebody_knows() -> None:
    package = Path(tasks.__file__).parent
    said = [
        re.findall(r'enqueue\(\s*"([a-z-]+)"', file.read_text()) for file in package.rglob("*.py")
    ]
    kinds = {kind for found in said for kind in found}
    assert len(kinds) > 10
    assert kinds <= set(tasks.WORK)
