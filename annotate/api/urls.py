"""Addresses of the API."""

from django.urls import URLPattern, path, re_path

from annotate.api import campaigns, docs, judging, ranking, reports

urlpatterns: list[URLPattern] = [
    path("campaigns/", campaigns.campaigns, name="api_campaigns"),
    path("campaigns/<slug:slug>/claim/", judging.claim, name="api_claim"),
    path("seats/<int:seat_id>/judgment/", judging.judgment, name="api_judgment"),
    path("seats/<int:seat_id>/refuse/", judging.refuse, name="api_refuse"),
    path("seats/<int:seat_id>/release/", judging.release, name="api_release"),
    path("seats/<int:seat_id>/extend/", judging.extend, name="api_extend"),
    path("judgments/<int:judgment_id>/undo/", judging.undo, name="api_undo"),
    path("judgments/<int:judgment_id>/correct/", judging.correct, name="api_correct"),
    path("campaigns/<slug:slug>/rank/", ranking.rank, name="api_rank"),
    path("campaigns/<slug:slug>/train/", ranking.train, name="api_train"),
    path("campaigns/<slug:slug>/reports/<slug:kind>/", reports.report, name="api_report"),
    path("schema/", docs.schema, name="api_schema"),
    path("docs/", docs.docs, name="api_docs"),
    re_path("^", docs.nothing, name="api_nothing"),
]
