"""Files in: sent and checked, looked at, loaded. And files of known grades."""

from http import HTTPStatus
from typing import cast

from django.shortcuts import get_object_or_404
from rest_framework.decorators import api_view, parser_classes, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import gold_files, imports, pairs, tokens
from annotate.api import pages
from annotate.api.authentication import needs, person
from annotate.api.described import SLUG
from annotate.api.errors import ConflictError
from annotate.api.file_parsing import FileParser, require_known
from annotate.api.once import once
from annotate.api.operations import BY_NUMBER, number, reads, writes
from annotate.api.serializers import Fields
from annotate.api.shapes import (
    NothingIn,
    checked,
    form_errors,
    managed,
)
from annotate.api.upload_shapes import (
    GOLD,
    UPLOAD,
    UPLOAD_DETAIL,
    GoldFileIn,
    GoldLoadedOut,
    GoldPairOut,
    ReadingIn,
    UploadDetailOut,
    UploadIn,
    UploadOut,
    said_gold,
    said_in_detail,
    said_upload,
)
from annotate.forms.files import UploadForm
from annotate.forms.pairs import GoldFileForm
from annotate.models import Campaign, Upload

TAG = "Files"
PLACE = (SLUG, number("upload_id", "The file."))
ASKED = (Upload.State.ASKED, Upload.State.CHECKED)
ENDED = (Upload.State.APPLYING, Upload.State.LOADED)


# -- Files ----------------------------------------------------------------------------------------


@reads(
    "uploads",
    "List the files",
    "What was sent, the newest first.",
    tag=TAG,
    gives=pages.counted(UploadOut, "Upload"),
    answer={"count": 1, "next": None, "previous": None, "results": [UPLOAD]},
    pages=BY_NUMBER,
)
@writes(
    "upload_new",
    "Send a file",
    "A dry run: it is read through and nothing is loaded. The answer has a preview and every "
    "problem by line; a large file is `checking` at first. Load it with `load`.",
    tag=TAG,
    takes={"multipart/form-data": UploadIn},
    gives=UploadDetailOut,
    answer=UPLOAD_DETAIL,
    status=201,
)
@api_view(["GET", "POST"])
@parser_classes([FileParser])
@permission_classes(needs(tokens.MANAGE))
def upload_list(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    if request.method == "POST":
        return _send(request, campaign)
    rows = campaign.uploads.select_related("created_by").defer("errors", "preview")
    return pages.numbered(request, rows, UploadOut, said_upload)


@once
def _send(request: Request, campaign: Campaign) -> Response:
    require_known(request, "file", "format")
    form = UploadForm(cast(Fields, request.data), request.FILES)
    if not form.is_valid():
        raise form_errors(form)
    file = form.cleaned_data["file"]
    upload = imports.check_upload(campaign, person(request), file, file.name, form.options())
    upload.refresh_from_db()
    return Response(said_in_detail(upload), status=HTTPStatus.CREATED)


@reads(
    "upload",
    "Read what a file holds",
    "What was found in it, and how far it is loaded.",
    tag=TAG,
    place=PLACE,
    gives=UploadDetailOut,
    answer=UPLOAD_DETAIL,
)
@writes(
    "upload_discard",
    "Discard a file",
    "Nothing of it stays. What is loaded already stays.",
    tag=TAG,
    method="DELETE",
    place=PLACE,
    gives=UploadDetailOut,
    answer=UPLOAD_DETAIL | {"state": "refused"},
    keyed=False,
)
@api_view(["GET", "DELETE"])
@permission_classes(needs(tokens.MANAGE))
def upload(request: Request, slug: str, upload_id: int) -> Response:
    found = _upload(managed(request, slug), upload_id)
    if request.method == "DELETE":
        if found.state in ENDED:
            raise ConflictError("The file is loaded already.")
        imports.discard(found)
        found.refresh_from_db()
    return Response(said_in_detail(found))


def _upload(campaign: Campaign, upload_id: int) -> Upload:
    return get_object_or_404(campaign.uploads.select_related("created_by"), pk=upload_id)


@writes(
    "upload_check",
    "Say how a file is to be read",
    "Another dry run. What is not sent stays as it was found.",
    tag=TAG,
    place=PLACE,
    takes=ReadingIn,
    sent={"grades": "judgments", "scale": "1-5"},
    gives=UploadDetailOut,
    answer=UPLOAD_DETAIL,
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def check(request: Request, slug: str, upload_id: int) -> Response:
    return _check(request, _upload(managed(request, slug), upload_id))


@once
def _check(request: Request, found: Upload) -> Response:
    said = checked(ReadingIn, request)
    if found.state not in ASKED:
        raise ConflictError(f"A file that is {found.state} cannot be read anew.")
    try:
        options = imports.Options(**(vars(imports.options_of(found)) | said))
    except ValueError as error:
        raise ValidationError({"scale": [str(error)]}) from None
    return Response(said_in_detail(imports.recheck(found, options)))


@writes(
    "upload_load",
    "Load a file",
    "It was checked; a worker loads it whole or not at all. See `progress`.",
    tag=TAG,
    place=PLACE,
    takes=NothingIn,
    sent={},
    gives=UploadDetailOut,
    answer=UPLOAD_DETAIL | {"state": "loading", "progress": 0.0},
    status=202,
)
@api_view(["POST"])
@permission_classes(needs(tokens.MANAGE))
def load(request: Request, slug: str, upload_id: int) -> Response:
    return _load(request, _upload(managed(request, slug), upload_id))


@once
def _load(request: Request, found: Upload) -> Response:
    checked(NothingIn, request)
    if imports.load(found) is None:
        raise ConflictError(f"Only a file that is checked is loaded. This one is {found.state}.")
    found.refresh_from_db()
    return Response(said_in_detail(found), status=HTTPStatus.ACCEPTED)


# -- Gold -----------------------------------------------------------------------------------------


@reads(
    "gold",
    "List the gold pairs",
    "Pairs whose grade is known, and how judges did on each.",
    tag=TAG,
    gives=pages.counted(GoldPairOut, "Gold"),
    answer={"count": 1, "next": None, "previous": None, "results": [GOLD]},
    pages=BY_NUMBER,
)
@writes(
    "gold_file",
    "Send a file of known grades",
    "Every line names a pair that is loaded. It is taken whole or not at all; 422 names the lines.",
    tag=TAG,
    takes={"multipart/form-data": GoldFileIn},
    gives=GoldLoadedOut,
    answer={"pairs": 25},
    status=201,
)
@api_view(["GET", "POST"])
@parser_classes([FileParser])
@permission_classes(needs(tokens.MANAGE))
def gold(request: Request, slug: str) -> Response:
    campaign = managed(request, slug)
    if request.method == "POST":
        return _gold_file(request, campaign)
    return pages.numbered(request, list(pairs.gold(campaign)), GoldPairOut, said_gold)


@once
def _gold_file(request: Request, campaign: Campaign) -> Response:
    require_known(request, "file")
    form = GoldFileForm(cast(Fields, request.data), request.FILES)
    if not form.is_valid():
        raise form_errors(form)
    taken = gold_files.load(person(request), campaign, form.cleaned_data["file"])
    return Response(GoldLoadedOut({"pairs": taken}).data, status=HTTPStatus.CREATED)
