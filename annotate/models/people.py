"""People and how they come in."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Now


class User(AbstractUser):
    """A person: what she may do in the whole site. Campaigns say the rest in Membership."""

    class Role(models.TextChoices):
        JUDGE = "judge", "Judge"
        MANAGER = "manager", "Manager"
        ADMINISTRATOR = "administrator", "Administrator"

    role = models.CharField(max_length=16, choices=Role, default=Role.JUDGE)
    keys = models.JSONField(
        default=dict, blank=True, help_text="Steps of judging for which she chose another key."
    )

    @property
    def manages(self) -> bool:
        return self.is_administrator or self.role == self.Role.MANAGER

    @property
    def is_administrator(self) -> bool:
        return self.is_superuser or self.role == self.Role.ADMINISTRATOR


class ApiToken(models.Model):
    """A key for programs. Only its digest is kept; what it may do is a list of words."""

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(max_length=12, help_text="How its owner recognises it.")
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user}"


class SignInLink(models.Model):
    """A link that signs one person in once. Only its digest is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="sign_in_links")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"Sign-in link for {self.user}"
