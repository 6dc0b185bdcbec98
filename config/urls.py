"""Addresses of the whole site."""

from django.contrib import admin
from django.urls import include, path

from annotate.views import tokens

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", include("annotate.api.urls")),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/<int:number>/revoke/", tokens.token_revoke, name="token_revoke"),
    path("", include("annotate.urls")),
]
