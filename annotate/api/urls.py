"""Addresses of the API."""

from django.urls import URLPattern, path, re_path

from annotate.api import (
    campaigns,
    docs,
    exports,
    guidelines,
    judges,
    judging,
    judgments,
    mine,
    pairs,
    planning,
    ranking,
    reports,
    runs,
    uploads,
    webhooks,
    work,
)

CAMPAIGN = "campaigns/<slug:slug>/"
PAIR = f"{CAMPAIGN}pairs/<int:pair_id>/"
JUDGE = f"{CAMPAIGN}judges/<int:judge_id>/"
UPLOAD = f"{CAMPAIGN}uploads/<int:upload_id>/"
RUN = f"{CAMPAIGN}runs/<int:run>/"
JOB = f"{CAMPAIGN}jobs/<int:job_id>/"

WEBHOOK = "campaigns/<slug:slug>/webhooks/<int:webhook_id>/"

urlpatterns: list[URLPattern] = [
    # Judging
    path("campaigns/", campaigns.campaigns, name="api_campaigns"),
    path("campaigns/<slug:slug>/claim/", judging.claim, name="api_claim"),
    path("seats/<int:seat_id>/judgment/", judging.judgment, name="api_judgment"),
    path("seats/<int:seat_id>/refuse/", judging.refuse, name="api_refuse"),
    path("seats/<int:seat_id>/release/", judging.release, name="api_release"),
    path("seats/<int:seat_id>/extend/", judging.extend, name="api_extend"),
    path("judgments/<int:judgment_id>/undo/", judging.undo, name="api_undo"),
    path("judgments/<int:judgment_id>/correct/", judging.correct, name="api_correct"),
    path(f"{CAMPAIGN}recent/", mine.recent, name="api_recent"),
    path(f"{CAMPAIGN}me/", mine.mine, name="api_mine"),
    path("notes/", mine.note_list, name="api_notes"),
    path("notes/<int:note_id>/read/", mine.note_read, name="api_note_read"),
    path("keys/", mine.her_keys, name="api_keys"),
    # Managing
    path(CAMPAIGN, campaigns.campaign, name="api_campaign"),
    path(f"{CAMPAIGN}state/", campaigns.state, name="api_state"),
    path(f"{CAMPAIGN}guidelines/", guidelines.current, name="api_guidelines"),
    path(f"{CAMPAIGN}guidelines/<int:version>/", guidelines.version, name="api_guideline"),
    path(f"{CAMPAIGN}queries/", pairs.query_list, name="api_queries"),
    path(f"{CAMPAIGN}pairs/", pairs.pair_list, name="api_pairs"),
    path(f"{CAMPAIGN}disputes/", pairs.dispute_list, name="api_disputes"),
    path(f"{CAMPAIGN}referrals/", pairs.referral_list, name="api_referrals"),
    path(PAIR, pairs.pair, name="api_pair"),
    path(f"{PAIR}drop/", pairs.drop, name="api_drop"),
    path(f"{PAIR}resume/", pairs.resume, name="api_resume"),
    path(f"{PAIR}gold/", pairs.gold, name="api_pair_gold"),
    path(f"{PAIR}final/", pairs.final, name="api_final"),
    path(f"{CAMPAIGN}judgments/", judgments.judgment_list, name="api_judgments"),
    path(f"{CAMPAIGN}judgments/<int:judgment_id>/void/", judgments.void, name="api_void"),
    path(f"{CAMPAIGN}labels/", judgments.label_list, name="api_labels"),
    path(f"{CAMPAIGN}judges/", judges.judge_list, name="api_judges"),
    path(f"{CAMPAIGN}people/", judges.people_list, name="api_people"),
    path(JUDGE, judges.judge, name="api_judge"),
    path(f"{JUDGE}standing/", judges.standing, name="api_standing"),
    path(f"{JUDGE}put-back/", judges.put_back, name="api_put_back"),
    path(f"{JUDGE}link/", judges.link, name="api_link"),
    path(f"{JUDGE}notes/", judges.note_list, name="api_judge_notes"),
    path(f"{CAMPAIGN}uploads/", uploads.upload_list, name="api_uploads"),
    path(UPLOAD, uploads.upload, name="api_upload"),
    path(f"{UPLOAD}check/", uploads.check, name="api_check"),
    path(f"{UPLOAD}load/", uploads.load, name="api_load"),
    path(f"{CAMPAIGN}gold/", uploads.gold, name="api_gold"),
    path(f"{CAMPAIGN}exports/", exports.export_list, name="api_exports"),
    path(f"{CAMPAIGN}exports/<str:name>/", exports.export, name="api_export"),
    path(f"{CAMPAIGN}jobs/", work.job_list, name="api_jobs"),
    path(f"{JOB}retry/", work.retry, name="api_retry"),
    path(f"{JOB}cancel/", work.cancel, name="api_cancel"),
    path(f"{CAMPAIGN}events/", work.event_list, name="api_events"),
    path(f"{CAMPAIGN}runs/", runs.run_list, name="api_runs"),
    path(RUN, runs.run, name="api_run"),
    path(f"{RUN}promote/", runs.promote, name="api_promote"),
    path(f"{RUN}roll-back/", runs.roll_back, name="api_roll_back"),
    path(f"{RUN}cancel/", runs.cancel, name="api_run_cancel"),
    path(f"{RUN}files/<str:what>/", runs.file, name="api_run_file"),
    path("campaigns/<slug:slug>/rank/", ranking.rank, name="api_rank"),
    path("campaigns/<slug:slug>/train/", ranking.train, name="api_train"),
    path("campaigns/<slug:slug>/reports/<slug:kind>/", reports.report, name="api_report"),
    path("plan/", planning.plan, name="api_plan"),
    path("campaigns/<slug:slug>/webhooks/", webhooks.hooks, name="api_webhooks"),
    path(WEBHOOK, webhooks.hook, name="api_webhook"),
    path(f"{WEBHOOK}test/", webhooks.test, name="api_webhook_test"),
    path(f"{WEBHOOK}deliveries/", webhooks.deliveries, name="api_deliveries"),
    path(f"{WEBHOOK}deliveries/<int:delivery_id>/send/", webhooks.again, name="api_send_again"),
    path("schema/", docs.schema, name="api_schema"),
    path("docs/", docs.docs, name="api_docs"),
    re_path("^", docs.nothing, name="api_nothing"),
]
