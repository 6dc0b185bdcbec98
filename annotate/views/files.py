"""Files in and out: uploads, their check and preview, and exports."""

import csv
from io import StringIO

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_safe

from annotate import exports, imports, jobs
from annotate.access import SignedInRequest, managed_campaign
from annotate.formats import FORMATS
from annotate.forms.files import ExportForm, ReadingForm, UploadForm
from annotate.models import Campaign, Pair, Upload
from annotate.spreadsheets import safe
from annotate.views.setup import bad, wants_json

SHOWN_PROBLEMS = 500


# -- In -------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_data(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """What was uploaded, and a place for more."""
    campaign = managed_campaign(request.user, slug)
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_bound and form.is_valid():
        file = form.cleaned_data["file"]
        upload = imports.check_upload(campaign, request.user, file, file.name, form.options())
        return redirect("upload", slug, upload.pk)
    context = {
        "campaign": campaign,
        "form": form,
        "formats": FORMATS,
        "uploads": campaign.uploads.all()[:200],
        "pairs": campaign.pairs.exclude(state=Pair.State.LOADING).count(),
        "queries": campaign.queries.count(),
        "documents": campaign.documents.count(),
        "tab": "data",
    }
    return render(request, "campaigns/data.html", context, status=bad(form))


@require_http_methods(["GET", "HEAD", "POST"])
def upload_page(request: SignedInRequest, slug: str, number: int) -> HttpResponseBase:
    """Look at a file before it counts, say how it is to be read, then load it."""
    campaign = managed_campaign(request.user, slug)
    upload = get_object_or_404(campaign.uploads, pk=number)
    asked = upload.state in (Upload.State.ASKED, Upload.State.CHECKED)
    form = ReadingForm(upload) if asked else None
    if request.method == "POST":
        form = _change(request, upload)
        if form is None:
            return redirect("upload", slug, number)
    if request.GET.get("problems") == "csv":
        return _problems(upload)
    context = {
        "campaign": campaign,
        "upload": upload,
        "format": FORMATS[upload.format].words if upload.format in FORMATS else "",
        "form": form,
        "errors": upload.errors[:SHOWN_PROBLEMS],
        "job": imports.job_of(upload),
        "worker_alive": jobs.worker_alive(),
        "tab": "data",
    }
    if wants_json(request):
        status = render_to_string("campaigns/_upload_status.html", context, request)
        return JsonResponse({"fragments": {"upload-status": status}})
    return render(request, "campaigns/upload.html", context, status=bad(form) if form else 200)


def _change(request: SignedInRequest, upload: Upload) -> ReadingForm | None:
    """Do what was asked for; a form comes back where it cannot be understood."""
    action = request.POST.get("action", "load")
    if action == "check" and upload.state in (Upload.State.ASKED, Upload.State.CHECKED):
        form = ReadingForm(upload, request.POST)
        if not form.is_valid():
            return form
        imports.recheck(upload, form.options())
    elif action == "discard":
        imports.discard(upload)
    elif action == "load":
        try:
            imports.load(upload)
        except imports.BusyError as error:
            messages.error(request, str(error))
    return None


def _problems(upload: Upload) -> HttpResponse:
    """Every line that cannot be loaded, for a spreadsheet."""
    buffer = StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["line", "reason"])
    writer.writerows([error["line"], safe(error["reason"])] for error in upload.errors)
    return HttpResponse(
        buffer.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="problems-{upload.pk}.csv"'},
    )


# -- Out ------------------------------------------------------------------------------------------


@require_safe
def campaign_exports(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Everything that can be taken out, and how."""
    campaign = managed_campaign(request.user, slug)
    form = ExportForm(request.GET or None)
    context = {
        "campaign": campaign,
        "form": form,
        "query": request.GET.urlencode() if form.is_bound and form.is_valid() else "",
        "exports": exports.EXPORTS,
        "tab": "exports",
    }
    return render(request, "campaigns/exports.html", context, status=bad(form))


@require_safe
def campaign_export(request: SignedInRequest, slug: str, name: str) -> HttpResponseBase:
    """One export, row by row as the database hands them out."""
    campaign = managed_campaign(request.user, slug)
    if name not in exports.EXPORTS:
        raise Http404("There is no such export.")
    form = ExportForm(request.GET)
    if not form.is_valid():
        return _refusal(" ".join(str(error) for errors in form.errors.values() for error in errors))
    try:
        pieces = exports.stream(name, campaign, form.options())
    except exports.ExportRefusedError as error:
        return _refusal(str(error))
    return StreamingHttpResponse(
        pieces,
        content_type=exports.EXPORTS[name].content_type,
        headers={"Content-Disposition": f'attachment; filename="{_file_name(campaign, name)}"'},
    )


def _refusal(sentence: str) -> HttpResponse:
    return HttpResponse(sentence, content_type="text/plain; charset=utf-8", status=422)


def _file_name(campaign: Campaign, name: str) -> str:
    return f"{campaign.slug}-{name}"
