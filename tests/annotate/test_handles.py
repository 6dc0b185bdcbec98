"""Handles of seats: one for each, and none that tells anything."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate import routing
from annotate.handles import BITS, handle, seat_id
from annotate.models import Campaign, Seat, User

LARGEST = (1 << 2 * BITS) - 1


@given(st.integers(0, LARGEST))
def test_handle_leads_back_to_its_seat(number: int) -> None:
    assert seat_id(handle(number)) == number
    assert 0 <= handle(number) <= LARGEST < 2**53


@given(st.integers(LARGEST + 1) | st.integers(max_value=-1))
def test_what_is_no_handle_means_no_seat(number: int) -> None:
    assert seat_id(number) == 0


def test_handles_do_not_come_in_the_order_of_the_seats() -> None:
    handles = [handle(number) for number in range(1, 200)]
    rising = sum(after > before for before, after in pairwise(handles))
    assert 60 < rising < 140


@pytest.mark.django_db
def test_gold_seat_is_not_told_by_its_number(campaign: Campaign, alice: User, dana: User) -> None:
    gold = campaign.pairs.order_by("-position")[0]
    routing.give_gold(dana, gold.pk, 4)
    Campaign.objects.update(gold_percent=100)
    campaign.refresh_from_db()
    newest = max(Seat.objects.values_list("pk", flat=True))
    told = []
    while seat := routing.claim(campaign, alice):
        assert seat.token
        told.append(seat.pk)
        routing.submit(alice, seat.pk, seat.token, routing.Answer(0, seat.token))
    # A gold seat is the newest; of those that could be it, some stand before all others.
    assert len([seat for seat in told if seat > newest]) == 1
    others = [handle(seat) for seat in told if seat <= newest]
    could_be = [handle(newest + number) for number in range(1, 200)]
    assert min(could_be) < min(others)
    assert max(could_be) > max(others)
