"""Every page there is, found by asking for every address as somebody who may see it."""

from collections.abc import Iterator, Sequence

from django.test import Client
from django.urls import NoReverseMatch, URLPattern, reverse

from annotate.urls import urlpatterns

#: Pages that must be among those found: if one is missing, the search is broken.
JUDGE_PAGES = {"judge_home", "judge", "judge_recent", "judge_guidelines", "set_password", "tokens"}
MANAGER_PAGES = {
    *("campaigns", "campaign_new", "dashboard", "campaign_settings", "campaign_data", "upload"),
    *("campaign_judges", "campaign_guidelines", "campaign_referrals", "campaign_jobs"),
    *("plan", "campaign_lab"),
}


def found(client: Client, slugs: Sequence[str], numbers: Sequence[int]) -> dict[str, list[str]]:
    """The addresses that answer this person with a page, by the name of the address.

    An address with a number is tried with each of them until one is a page.
    """
    pages: dict[str, list[str]] = {}
    for pattern in urlpatterns:
        for addresses in _addresses(pattern, slugs, numbers):
            page = next((address for address in addresses if _is_page(client, address)), None)
            if page:
                pages.setdefault(str(pattern.name), []).append(page)
    return pages


def _addresses(
    pattern: URLPattern, slugs: Sequence[str], numbers: Sequence[int]
) -> Iterator[list[str]]:
    """For each campaign: the addresses to try."""
    wanted = set(pattern.pattern.converters)
    for slug in slugs if "slug" in wanted else [""]:
        known = {"slug": slug} if slug else {}
        choices = [{"number": number} for number in numbers] if "number" in wanted else [{}]
        try:
            yield [reverse(str(pattern.name), kwargs=known | choice) for choice in choices]
        except NoReverseMatch:  # it names a file, not a page
            continue


def _is_page(client: Client, address: str) -> bool:
    answer = client.get(address)
    return answer.status_code == 200 and answer["Content-Type"].startswith("text/html")
