"""Every value comes from the environment; docs/settings.md lists them all."""

from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from config import env

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("DATA_DIR", str(BASE_DIR / "var")))
DATA_DIR.mkdir(parents=True, exist_ok=True)

PRODUCTION = env.flag("PRODUCTION")
DEBUG = env.flag("DEBUG")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1,[::1]")
SECRET_KEY = env.text("SECRET_KEY")

if PRODUCTION:
    if DEBUG:
        raise ImproperlyConfigured("DEBUG must be off in production.")
    if len(SECRET_KEY) < 50:
        raise ImproperlyConfigured("SECRET_KEY must have at least 50 characters in production.")
    if not ALLOWED_HOSTS or "*" in ALLOWED_HOSTS:
        raise ImproperlyConfigured("ALLOWED_HOSTS must name the hosts of this site in production.")
else:
    SECRET_KEY = SECRET_KEY or env.secret_from(DATA_DIR / "secret_key")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "annotate",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "annotate.middleware.security_headers",
    "annotate.middleware.nothing_too_large",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "annotate.middleware.english_where_not_translated",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.i18n",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# -- Database -----------------------------------------------------------------------------------


def database() -> dict[str, Any]:
    """SQLite under DATA_DIR unless DATABASE_URL names another."""
    url = env.text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'second-opinion.sqlite3'}")
    config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=600))
    if config["ENGINE"].endswith("sqlite3"):
        # Writers queue at BEGIN instead of failing half-way, and a commit that was acknowledged
        # is on the disk: a judgment is worth one fsync.
        config["ENGINE"] = "config.sqlite"
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        }
    else:
        config["CONN_HEALTH_CHECKS"] = True
    return config


DATABASES = {"default": database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- People -------------------------------------------------------------------------------------

AUTH_USER_MODEL = "annotate.User"
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
SIGN_IN_LINK_DAYS = env.whole("SIGN_IN_LINK_DAYS", 7)
DEMO = env.flag("DEMO", not PRODUCTION)

# -- Language and time --------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_I18N = True
USE_TZ = True

# -- Files --------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not PRODUCTION
UPLOAD_DIR = DATA_DIR / "uploads"
MODEL_DIR = DATA_DIR / "models"
UPLOAD_MAX_BYTES = env.whole("UPLOAD_MAX_MB", 50) * 1024 * 1024
UPLOAD_MAX_ROWS = env.whole("UPLOAD_MAX_ROWS", 1_000_000)
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

# -- Headers ------------------------------------------------------------------------------------

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
if PRODUCTION:
    SECURE_SSL_REDIRECT = env.flag("SSL_REDIRECT", True)
    SECURE_HSTS_SECONDS = env.whole("HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# -- API ----------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotate.api.authentication.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["annotate.api.parsing.JsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "annotate.api.parsing.JsonOnly",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_PAGINATION_CLASS": "annotate.api.pages.Pages",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "annotate.api.errors.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Second Opinion",
    "DESCRIPTION": "What judges and managers can do, for programs.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "SORT_OPERATIONS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "CampaignState": "annotate.models.Campaign.State",
        "CampaignStep": ["open", "pause", "close"],
        "JobState": "annotate.models.Job.State",
        "PairState": "annotate.api.pair_shapes.PAIR_STATES",
        "RunState": "annotate.models.TrainingRun.State",
        "UploadState": "annotate.models.Upload.State",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "annotate.api.described.closed_shapes",
    ],
}

# -- Background work: the database is the queue, Celery and Redis are the doorbell ---------------

REDIS_URL = env.text("REDIS_URL")
TRAINING_SECONDS = env.whole("TRAINING_SECONDS", 3600)
TRAINING_MB = env.whole("TRAINING_MB", 4096)
if PRODUCTION and not REDIS_URL:
    raise ImproperlyConfigured("REDIS_URL must name the Redis server in production.")

# -- Webhooks -----------------------------------------------------------------------------------

WEBHOOK_PRIVATE = env.flag("WEBHOOK_PRIVATE")

# -- Log ----------------------------------------------------------------------------------------

LOG_LEVEL = env.text("LOG_LEVEL", "INFO")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
