"""Simulated judges: they take the same way as people, seat by seat."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotate import campaigns, people, routing
from annotate.models import Campaign, Pair, Seat, User
from ranking.judgments import FloatArray
from ranking.simulation import SKILLS, draw

MEDIAN_SECONDS = 14.0


class SimulationError(Exception):
    """Why there is nothing to simulate."""


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """How many judges of what skill, how far, and how fast."""

    judges: int = 12
    skill: str = "expert"
    until: float = 1.0
    per_second: float | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.judges <= 500:
            raise SimulationError(f"judges must be between 1 and 500. Got {self.judges} instead.")
        if self.skill not in SKILLS:
            raise SimulationError(f"skill must be one of {', '.join(SKILLS)}. Got {self.skill}.")


def run(
    campaign: Campaign, plan: Simulation, progress: Callable[[int, float], None] | None = None
) -> int:
    """Judge until no simulated judge gets a pair, or the wanted share of pairs is closed."""
    _require_truth(campaign)
    rng = np.random.default_rng(plan.seed)
    judges = _judges(campaign, plan.judges)
    waiting = list(judges)
    made = 0
    started = time.monotonic()
    while waiting and (share := closed_share(campaign)) < plan.until:
        judge = waiting[int(rng.integers(len(waiting)))]
        seat = routing.claim(campaign, judge)
        if seat is None:
            waiting.remove(judge)
            continue
        _judge(judge, seat, SKILLS[plan.skill], rng)
        waiting = list(judges)  # a judgment may have opened a seat for somebody
        made += 1
        if progress:
            progress(made, share)
        if plan.per_second:
            time.sleep(max(0.0, started + made / plan.per_second - time.monotonic()))
    return made


def _require_truth(campaign: Campaign) -> None:
    if campaign.pairs.filter(truth__isnull=True).exists() or not campaign.pairs.exists():
        raise SimulationError("Simulated judges need the true grade of every pair.")
    if campaign.state != Campaign.State.OPEN:
        raise SimulationError(f"The campaign must be open. It is {campaign.state}.")


def closed_share(campaign: Campaign) -> float:
    total = campaign.pairs.count()
    closed = campaign.pairs.filter(state=Pair.State.CLOSED).count()
    return closed / total if total else 1.0


def _judges(campaign: Campaign, count: int) -> list[User]:
    """The simulated judges, the same ones every time and in every campaign."""
    judges = []
    for number in range(1, count + 1):
        name = f"sim-{number:02}"
        judge = User.objects.filter(username=name).first()
        if judge is None:
            judge = people.create_person(name)
        campaigns.add_judge(campaign, judge)
        judges.append(judge)
    return judges


def _judge(judge: User, seat: Seat, confusion: FloatArray, rng: np.random.Generator) -> None:
    truth = seat.pair.truth
    if truth is None or seat.token is None:
        raise SimulationError("Simulated judges need the true grade of every pair.")
    grade = int(draw(np.array([truth]), confusion, rng)[0])
    seconds = MEDIAN_SECONDS * float(np.exp(rng.normal(0.0, 0.5)))
    answer = routing.Answer(grade=grade, key=uuid.uuid4(), active_ms=int(1000 * seconds))
    routing.submit(judge, seat.pk, seat.token, answer)
