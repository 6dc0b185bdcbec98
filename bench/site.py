"""Second Opinion as the benchmark of the router needs it: filled, with one bare view beside it.

``python -m bench.site PAIRS JUDGES`` fills an empty database and prints what its judges need to
come in; ``gunicorn bench.site:application`` serves it. DATABASE_URL and DATA_DIR say where.
"""

import json
import os
import sys

import django
from django.core.handlers.wsgi import WSGIHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.decorators import login_not_required  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402
from django.http import HttpRequest, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402

from annotate import routing  # noqa: E402
from annotate.models import (  # noqa: E402
    Campaign,
    Document,
    Event,
    Membership,
    Pair,
    Query,
    Seat,
    User,
)
from config.urls import urlpatterns as site  # noqa: E402

TEXT = "Everything one could want to know, said in a sentence of ordinary length. "


@csrf_exempt
@login_not_required
def bare(request: HttpRequest, pair: int) -> JsonResponse:
    """The peer: one indexed read, one insert, one update, in one transaction."""
    with transaction.atomic():
        found = Pair.objects.get(pk=pair)
        event = Event.objects.create(campaign_id=found.campaign_id, sentence="Bare.")
        Pair.objects.filter(pk=pair).update(stale=True)
    return JsonResponse({"saved": event.pk})


urlpatterns = [*site, path("bare/<int:pair>/", bare)]
settings.ROOT_URLCONF = __name__ if __name__ != "__main__" else "bench.site"
application = WSGIHandler()


def fill(pairs: int, judges: int) -> dict[str, object]:
    """A campaign under if-good-3, ten documents to a query, and judges who are signed in."""
    call_command("migrate", verbosity=0)
    users = [User(username=f"judge-{number}") for number in range(judges)]
    for user in users:
        user.set_unusable_password()
    users = User.objects.bulk_create(users)
    campaign = Campaign.objects.create(
        slug="bench", name="Bench", state=Campaign.State.OPEN, created_by=users[0]
    )
    role = Membership.Role.JUDGE
    Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role=role) for user in users
    )
    fill_pairs(campaign, pairs)
    routing.open_seats(campaign)
    keys = list(Pair.objects.values_list("pk", flat=True))
    return {"sessions": [session(user) for user in users], "pairs": keys}


def fill_pairs(campaign: Campaign, count: int) -> None:
    queries = Query.objects.bulk_create(
        Query(campaign=campaign, key=str(n), text=f"query number {n}") for n in range(count // 10)
    )
    documents = Document.objects.bulk_create(
        Document(campaign=campaign, key=str(n), title=f"Title {n}", snippet=TEXT, text=TEXT * 9)
        for n in range(count)
    )
    Pair.objects.bulk_create(
        Pair(
            campaign=campaign,
            query=queries[n % len(queries)],
            document=document,
            rank=1,
            position=n,
        )
        for n, document in enumerate(documents)
    )


def session(user: User) -> str:
    """A session as signing in makes it."""
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    return str(store.session_key)


if __name__ == "__main__":
    print(json.dumps(fill(int(sys.argv[1]), int(sys.argv[2]))))
    assert Seat.objects.exists()
