"""Addresses of the pages."""

from django.urls import URLPattern, path
from django.views.i18n import set_language

from annotate.views import (
    accounts,
    campaigns,
    dashboard,
    files,
    gold,
    judges,
    judging,
    keys,
    lab,
    pairs,
    planning,
    ranker,
    referrals,
    reports,
    setup,
    standing,
    tokens,
    webhooks,
    work,
)

urlpatterns: list[URLPattern] = [
    # People
    path("", accounts.home, name="home"),
    path("sign-in/", accounts.sign_in, name="sign_in"),
    path("sign-out/", accounts.sign_out, name="sign_out"),
    path("link/<str:token>/", accounts.sign_in_link, name="sign_in_link"),
    path("password/", accounts.set_password, name="set_password"),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/<int:number>/revoke/", tokens.token_revoke, name="token_revoke"),
    path("language/", set_language, name="set_language"),
    # Judging
    path("keys/", keys.judge_keys, name="judge_keys"),
    path("judge/", judging.judge_home, name="judge_home"),
    path("judge/<slug:slug>/", judging.judge, name="judge"),
    path("judge/<slug:slug>/undo/", judging.judge_undo, name="judge_undo"),
    path("judge/<slug:slug>/refuse/", judging.judge_refuse, name="judge_refuse"),
    path("judge/<slug:slug>/release/", judging.judge_release, name="judge_release"),
    path("judge/<slug:slug>/recent/", judging.judge_recent, name="judge_recent"),
    path("judge/<slug:slug>/guidelines/", judging.judge_guidelines, name="judge_guidelines"),
    path("judge/<slug:slug>/result/", judging.judge_result, name="judge_result"),
    path("notes/<int:number>/read/", judges.note_read, name="note_read"),
    # Plans
    path("plan/", planning.plan_page, name="plan"),
    path("plan/<str:name>.csv", planning.plan_csv, name="plan_csv"),
    # Campaigns
    path("campaigns/", campaigns.campaign_list, name="campaigns"),
    path("campaigns/new/", campaigns.campaign_new, name="campaign_new"),
    path("campaigns/<slug:slug>/", dashboard.dashboard, name="dashboard"),
    path("campaigns/<slug:slug>/live/", dashboard.campaign_live, name="campaign_live"),
    path("campaigns/<slug:slug>/settings/", campaigns.campaign_settings, name="campaign_settings"),
    path("campaigns/<slug:slug>/state/", campaigns.campaign_state, name="campaign_state"),
    path("campaigns/<slug:slug>/train/", campaigns.campaign_train, name="campaign_train"),
    path("campaigns/<slug:slug>/data/", files.campaign_data, name="campaign_data"),
    path("campaigns/<slug:slug>/data/<int:number>/", files.upload_page, name="upload"),
    path("campaigns/<slug:slug>/judges/", setup.campaign_judges, name="campaign_judges"),
    path("campaigns/<slug:slug>/judges/add/", setup.judge_add, name="judge_add"),
    path("campaigns/<slug:slug>/judges/<int:number>/", setup.judge_change, name="judge_change"),
    path(
        "campaigns/<slug:slug>/judges/<int:number>/standing/",
        standing.judge_standing,
        name="judge_standing",
    ),
    path(
        "campaigns/<slug:slug>/judges/<int:number>/put-back/",
        standing.judge_put_back,
        name="judge_put_back",
    ),
    path("campaigns/<slug:slug>/history/", standing.campaign_history, name="campaign_history"),
    path(
        "campaigns/<slug:slug>/guidelines/", setup.campaign_guidelines, name="campaign_guidelines"
    ),
    path(
        "campaigns/<slug:slug>/referrals/", referrals.campaign_referrals, name="campaign_referrals"
    ),
    path(
        "campaigns/<slug:slug>/referrals/<int:number>/",
        referrals.referral_decide,
        name="referral_decide",
    ),
    path("campaigns/<slug:slug>/gold/", gold.campaign_gold, name="campaign_gold"),
    path("campaigns/<slug:slug>/pairs/", pairs.campaign_pairs, name="campaign_pairs"),
    path("campaigns/<slug:slug>/pairs/<int:number>/", pairs.pair_page, name="pair"),
    path("campaigns/<slug:slug>/pairs/<int:number>/change/", pairs.pair_change, name="pair_change"),
    path("campaigns/<slug:slug>/ranker/", ranker.campaign_ranker, name="campaign_ranker"),
    path("campaigns/<slug:slug>/ranker/train/", ranker.ranker_train, name="ranker_train"),
    path("campaigns/<slug:slug>/ranker/<int:number>/", ranker.ranker_change, name="ranker_change"),
    path(
        "campaigns/<slug:slug>/ranker/<int:number>/<str:what>/",
        ranker.ranker_file,
        name="ranker_file",
    ),
    path("campaigns/<slug:slug>/webhooks/", webhooks.campaign_webhooks, name="campaign_webhooks"),
    path(
        "campaigns/<slug:slug>/webhooks/<int:number>/",
        webhooks.webhook_change,
        name="webhook_change",
    ),
    path(
        "campaigns/<slug:slug>/deliveries/<int:number>/",
        webhooks.delivery_again,
        name="delivery_again",
    ),
    path("campaigns/<slug:slug>/lab/", lab.campaign_lab, name="campaign_lab"),
    path("campaigns/<slug:slug>/lab/<int:number>/", lab.lab_change, name="lab_change"),
    path("campaigns/<slug:slug>/lab/<int:number>/<str:name>.csv", lab.lab_csv, name="lab_csv"),
    # Figures
    path("campaigns/<slug:slug>/agreement/", reports.campaign_agreement, name="campaign_agreement"),
    path("campaigns/<slug:slug>/cost/", reports.campaign_cost, name="campaign_cost"),
    path("campaigns/<slug:slug>/judges/figures/", judges.judge_figures, name="judge_figures"),
    path(
        "campaigns/<slug:slug>/judges/<int:number>/figures/", judges.judge_page, name="judge_page"
    ),
    path(
        "campaigns/<slug:slug>/judges/<int:number>/action/",
        judges.judge_action,
        name="judge_action",
    ),
    path(
        "campaigns/<slug:slug>/figures/<str:kind>/<str:name>.csv",
        reports.figure_csv,
        name="figure_csv",
    ),
    # Work
    path("campaigns/<slug:slug>/jobs/", work.campaign_jobs, name="campaign_jobs"),
    path("campaigns/<slug:slug>/jobs/<int:number>/", work.job_change, name="job_change"),
    path("campaigns/<slug:slug>/export/", files.campaign_exports, name="campaign_exports"),
    path(
        "campaigns/<slug:slug>/export/<str:name>",
        files.campaign_export,
        name="campaign_export",
    ),
]
