"""The rows: fields, constraints, tiny properties. docs/architecture.md says who writes which."""

from annotate.models.campaigns import Campaign, Guideline, Membership, scheme_of
from annotate.models.decisions import Adjudication
from annotate.models.history import Event
from annotate.models.judging import Judgment, Ledger, Refusal, Seat, Standing
from annotate.models.lab import LabCell, LabRun
from annotate.models.notes import Note
from annotate.models.paying import Ask, Estimate
from annotate.models.people import ApiToken, SignInLink, User
from annotate.models.pool import Document, Pair, Query, Upload
from annotate.models.replies import Reply
from annotate.models.results import Artifact, Label, Report, Snapshot, TrainingRun
from annotate.models.webhooks import Closing, Delivery, Webhook
from annotate.models.work import Job, Worker

__all__ = [
    "Adjudication",
    "ApiToken",
    "Artifact",
    "Ask",
    "Campaign",
    "Closing",
    "Delivery",
    "Document",
    "Estimate",
    "Event",
    "Guideline",
    "Job",
    "Judgment",
    "LabCell",
    "LabRun",
    "Label",
    "Ledger",
    "Membership",
    "Note",
    "Pair",
    "Query",
    "Refusal",
    "Reply",
    "Report",
    "Seat",
    "SignInLink",
    "Snapshot",
    "Standing",
    "TrainingRun",
    "Upload",
    "User",
    "Webhook",
    "Worker",
    "scheme_of",
]
