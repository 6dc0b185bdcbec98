"""What the router promises, reckoned from the rows alone with none of the router's own code; but
for what a judgment is worth, which is the library's word."""

from collections import Counter, defaultdict

from django.db.models.functions import Now

from annotate import routing
from annotate.models import Ask, Campaign, Judgment, Ledger, Pair, Seat, Standing

#: States of a pair in which the scheme has its say.
ROUTED = ("open", "closed")


def wanted(campaign: Campaign, given: list[int], pair: Pair) -> int:
    """What the studies say of each scheme, written once more; if-it-pays wants what it found."""
    match campaign.scheme_name:
        case "k-overlap":
            target = campaign.k
        case "if-good-k":
            target = campaign.k if given and given[0] >= 2 else 1
        case "good-till-bad":
            target = 1 if any(grade < 2 for grade in given) else min(len(given) + 1, campaign.cap)
        case "if-it-pays":
            found = Ask.objects.filter(pair=pair).values_list("wanted", flat=True).first()
            target = min(found or 1, campaign.cap)
        case _:
            target = 1
    return max(target, len(given))


def check(campaign: Campaign) -> None:
    """All of them."""
    campaign = Campaign.objects.get(pk=campaign.pk)
    check_seats(campaign)
    check_judgments(campaign)
    check_ledger(campaign)
    check_excluded(campaign)


def check_seats(campaign: Campaign) -> None:
    """Every pair has the seats its scheme wants, and no judge sits on a pair twice."""
    seats: defaultdict[int, list[Seat]] = defaultdict(list)
    for seat in Seat.objects.filter(campaign=campaign).select_related("judgment"):
        seats[seat.pair_id].append(seat)
    for pair in Pair.objects.filter(campaign=campaign):
        waiting = [seat for seat in seats[pair.pk] if seat.state == "open"]
        free = [s for s in waiting if s.leased_until is None and s.position == pair.position]
        if pair.state in ROUTED:
            _check_routed(campaign, pair, seats[pair.pk])
            assert bool(waiting) == (pair.state == "open"), f"{pair.state} with {waiting}"
        else:
            assert not free, f"{pair.state}, and yet somebody may be asked"
        assert all(s.judge_id for s in waiting if s.position != pair.position)
        asked = Counter(seat.judge_id for seat in seats[pair.pk] if seat.judge_id)
        assert all(times == 1 for times in asked.values()), "a judge sits on a pair twice"


def _check_routed(campaign: Campaign, pair: Pair, seats: list[Seat]) -> None:
    """Not one place too few; one too many only where somebody has held it since it was wanted."""
    waiting = [seat for seat in seats if seat.state == "open"]
    assert all(seat.position == pair.position for seat in waiting)
    done = sorted((s for s in seats if s.judgment), key=lambda s: (s.judged_at, s.ordinal))
    given = [s.judgment.grade for s in done if s.judgment and s.judgment.grade is not None]
    places, need = len(done) + len(waiting), wanted(campaign, given, pair)
    free = [seat for seat in waiting if seat.leased_until is None]
    assert places >= need, f"{places} places where {need} are wanted"
    assert places <= need or not free, f"{places} places where {need} are wanted, {free} free"


def check_worth(campaign: Campaign) -> None:
    """If-it-pays, when everything has been looked at: what is most worth asking for is asked for.

    Values are those of the library; which pair follows from them is told once more.
    """
    campaign = Campaign.objects.get(pk=campaign.pk)
    if campaign.scheme_name != "if-it-pays":
        return
    for query in campaign.queries.all():
        _check_query(campaign, list(query.pairs.filter(state__in=ROUTED).order_by("pk")))


def _check_query(campaign: Campaign, pairs: list[Pair]) -> None:
    further = [pair for pair in pairs if pair.judgments.filter(current_seat__state="done").exists()]
    open_seats = Seat.objects.filter(pair__in=further, state="open")
    free = open_seats.exclude(leased_until__gt=Now()).values_list("pair", flat=True)
    held = open_seats.filter(leased_until__gt=Now())
    if not further or len(further) < len(pairs):
        assert not free, "further judgments are asked for before all have their first"
        return
    found, known = routing.look(pairs[0])
    values = {s.pair.pk: float(v) for s, v in zip(found.stands, found.values, strict=True)}
    if held.exists() or not free:
        assert held.exists() or known.left == 0 or not _askable(campaign, values, known.price)
        assert not held.exists() or not free, "two pairs of a query are asked about at once"
        return
    (asked,) = free
    assert values[asked] > known.price, "what is not worth it is asked for"
    assert asked in _askable(campaign, values, known.price)
    best = max(values[pair] for pair in _askable(campaign, values, known.price))
    assert values[asked] > best - 1e-9, "something else is worth more"


def _askable(campaign: Campaign, values: dict[int, float], price: float) -> set[int]:
    """The pairs that are worth it, may have another judgment, and can have one."""
    judges = campaign.memberships.filter(role="judge", user__is_active=True)
    out = Standing.objects.filter(campaign=campaign, excluded_at__isnull=False)
    judges = judges.exclude(user__in=out.values("judge"))
    if campaign.qualification_size:
        passed = Standing.objects.filter(campaign=campaign, qualified=True)
        judges = judges.filter(user__in=passed.values("judge"))
    found = set()
    for pair in Pair.objects.filter(pk__in=values, state__in=ROUTED):
        made = pair.seats.filter(state="done").count()
        seen = set(pair.seats.exclude(judge=None).values_list("judge", flat=True))
        seen |= set(pair.refusals.values_list("judge", flat=True))
        able = set(judges.values_list("user", flat=True)) - seen
        if values[pair.pk] > price and 0 < made < campaign.cap and able:
            found.add(pair.pk)
    return found


def check_judgments(campaign: Campaign) -> None:
    """What stands on seats is what was judged and not superseded; once per judge and pair."""
    ours = Judgment.objects.filter(pair__campaign=campaign)
    standing = ours.filter(grade__isnull=False, superseded_by=None)
    counted = set(standing.exclude(seat__state="aside").values_list("pk", flat=True))
    done = Seat.objects.filter(campaign=campaign, state="done")
    assert counted == set(done.values_list("judgment", flat=True))
    makers = Counter(standing.values_list("pair", "judge"))
    assert all(times == 1 for times in makers.values()), "a judge judged a pair twice"


def check_ledger(campaign: Campaign) -> None:
    ledger = Ledger.objects.filter(campaign=campaign, campaign__budget__isnull=False).first()
    assert ledger is None or ledger.spent == made(campaign)


def check_excluded(campaign: Campaign) -> None:
    """Whoever is excluded holds nothing."""
    out = Standing.objects.filter(campaign=campaign, excluded_at__isnull=False)
    held = Seat.objects.filter(campaign=campaign, state="open")
    assert not held.filter(judge__in=out.values("judge")).exists()


def made(campaign: Campaign) -> int:
    """Judgments that were asked for and not taken back by their judge."""
    ours = Judgment.objects.filter(pair__campaign=campaign)
    return ours.filter(supersedes=None).count() - ours.filter(grade=None, made_by=None).count()


def used(campaign: Campaign) -> int:
    """Judgments made and seats held: what a budget has to bear."""
    active = Seat.objects.filter(campaign=campaign, leased_until__gt=Now())
    return made(campaign) + active.count()
