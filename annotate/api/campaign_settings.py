"""The settings of a campaign as fields: those of the pages' forms, and no list of our own.

A setting that is added to a form is a field of the API by that.
"""

from copy import copy
from typing import Any, cast

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.backends.base.operations import BaseDatabaseOperations
from django.forms.models import model_to_dict
from rest_framework import serializers

from annotate.api.fields import (
    FlagField,
    NumberField,
    OneOfField,
    PriceField,
    WholeField,
    WordsField,
)
from annotate.api.serializers import Fields, Incoming
from annotate.api.shapes import form_errors
from annotate.forms.campaigns import CampaignForm
from annotate.forms.ranker import RankerForm
from annotate.models import Campaign

FORM = list(CampaignForm.Meta.fields)
COLUMNS = list(dict.fromkeys([*FORM, *RankerForm.Meta.fields, "promotion_tolerance"]))

#: Columns that go by a shorter name outside.
NAMES = {"scheme_name": "scheme"}
SHOWN = {column: NAMES.get(column, column) for column in COLUMNS}


def _field(column: str, **more: Any) -> "serializers.Field[Any, Any, Any, Any]":
    """The field of one setting, with the limits of its column."""
    about = _column(column)
    more |= {"help_text": _words(column, about)}
    if column in NAMES:
        more["source"] = column
    if about.null:
        more["allow_null"] = True
    if choices := _choices(column):
        return OneOfField(choices=choices, **more)
    if isinstance(about, models.BooleanField):
        return FlagField(**more)
    if isinstance(about, models.DecimalField):
        return PriceField(
            max_digits=about.max_digits, decimal_places=about.decimal_places or 0, **more
        )
    if isinstance(about, models.FloatField):
        return NumberField(**_limits(about), **more)
    if isinstance(about, models.IntegerField):
        return WholeField(**_limits(about), **more)
    return WordsField(max_length=about.max_length, **more)


def _column(name: str) -> "models.Field[Any, Any]":
    return cast("models.Field[Any, Any]", Campaign._meta.get_field(name))


def _choices(column: str) -> list[str]:
    """The words a form offers."""
    for form in (CampaignForm, RankerForm):
        field = form.base_fields.get(column)
        if isinstance(field, forms.ChoiceField):
            return [str(name) for name, _ in cast("list[tuple[str, str]]", field.choices)]
    return []


def _limits(about: "models.Field[Any, Any]") -> dict[str, Any]:
    """Those of its validators, or what every database can keep."""
    ranges = BaseDatabaseOperations.integer_field_ranges
    low, high = ranges.get(about.get_internal_type(), (None, None))
    for validator in about._validators:  # type: ignore[attr-defined]  # not the database's
        if isinstance(validator, MinValueValidator):
            low = validator.limit_value
        elif isinstance(validator, MaxValueValidator):
            high = validator.limit_value
    return {"min_value": low, "max_value": high}


def _words(column: str, about: "models.Field[Any, Any]") -> str:
    """What the form says of it."""
    for form in (CampaignForm, RankerForm):
        field = form.base_fields.get(column)
        if field is not None and field.help_text:
            return str(field.help_text)
    return str(about.help_text)


def _class(name: str, base: type[Any], **more: Any) -> type[Any]:
    fields = {SHOWN[column]: _field(column, **more) for column in COLUMNS}
    return type(name, (base,), fields)


#: What may be changed, and what is said. Only the name has no default.
SettingsIn: type[Incoming] = _class("SettingsIn", Incoming, required=False)
NewCampaignIn: type[Incoming] = type(
    "NewCampaignIn", (SettingsIn,), {"name": _field("name", required=True)}
)
SettingsOut: type[serializers.Serializer[Any]] = _class("SettingsOut", serializers.Serializer)


def settled(fields: Fields, campaign: Campaign | None = None) -> Fields:
    """What is to be saved, under the rules of the page: its form has the last word."""
    ours = {name: value for name, value in fields.items() if name in FORM}
    form = CampaignForm(model_to_dict(campaign or Campaign()) | ours, instance=copy(campaign))
    if not form.is_valid():
        raise form_errors(form, SHOWN)
    return fields | {name: form.cleaned_data[name] for name in ours}
