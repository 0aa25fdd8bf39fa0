"""Every setting of the product, read from the environment in one place; README.md explains each variable."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / "var")))

ENVIRONMENT = env.str("ENVIRONMENT", default="development")
if ENVIRONMENT not in ("development", "production"):
    raise ImproperlyConfigured(f'ENVIRONMENT is "{ENVIRONMENT}"; set it to development or production')
IS_PRODUCTION = ENVIRONMENT == "production"
DEBUG = env.bool("DEBUG", default=False)


def _own_secret_key() -> str:
    """The development key: made once and kept in the data directory, so that sessions survive a restart."""
    path = DATA_DIR / "secret_key"
    if not path.exists():
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(50))
        except FileExistsError:
            pass
    return path.read_text()


SECRET_KEY = env.str("SECRET_KEY", default="")
if not SECRET_KEY:
    if IS_PRODUCTION:
        raise ImproperlyConfigured("SECRET_KEY is not set; production needs one of at least 50 characters")
    SECRET_KEY = _own_secret_key()
EVIDENCE_KEY = env.str("EVIDENCE_KEY", default="")
"""Signs evidence that leaves: the base64 of 32 bytes; derived from SECRET_KEY where it is not set."""

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[] if IS_PRODUCTION else ["localhost", "127.0.0.1", "[::1]"])
FORWARDED_ALLOW_IPS = env.list("FORWARDED_ALLOW_IPS", default=[])
"""Addresses of the reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed."""
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "django_filters",
    "csp",
    "tooling",
    "transactions",
    "agentplatform",
]

MIDDLEWARE = [
    "agentplatform.health.HealthMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "agentplatform.urls"
ASGI_APPLICATION = "agentplatform.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "agentplatform.context.installation",
            ]
        },
    }
]

# Data ---------------------------------------------------------------------------------------------------------

DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'db.sqlite3'}")}
DATABASES["default"]["CONN_MAX_AGE"] = None
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
USES_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if USES_SQLITE:
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000;",
    }
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
DB_THREADS = env.int("DB_THREADS", default=4)
"""Threads, and so database connections, that one web process uses for its sockets."""

REDIS_URL = env.str("REDIS_URL", default="")
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            # Finite, so that a frozen Redis cannot hold a publisher for ever.
            "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": 2, "socket_connect_timeout": 2}]},
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

# The runtime --------------------------------------------------------------------------------------------------

SWEEP_SECONDS = env.float("SWEEP_SECONDS", default=2.0)
LEASE_SECONDS = env.float("LEASE_SECONDS", default=10.0)
DRIFT_SECONDS = env.float("DRIFT_SECONDS", default=3600.0)
"""How often live MCP servers are compared with the published definitions; 0: never."""
RECONCILE_SECONDS = env.float("RECONCILE_SECONDS", default=900.0)
"""How long an unknown outcome is asked about before operators take over."""
HELLO_SECONDS = env.float("HELLO_SECONDS", default=10.0)
CONFIRMATION_SECONDS = env.int("CONFIRMATION_SECONDS", default=600)
TRANSACTION_SECONDS = env.int("TRANSACTION_SECONDS", default=3600)
"""How long a transaction may collect and validate where its policy does not say."""
SESSION_SECONDS = env.int("SESSION_SECONDS", default=12 * 3600)
WORK_THREADS = env.int("WORK_THREADS", default=16)
"""Threads of one process for turns and, without Redis, for tool calls."""
TOOL_TIMEOUT_SECONDS = env.float("TOOL_TIMEOUT_SECONDS", default=30.0)
RATE_LIMITS = env.str("RATE_LIMITS", default="on") != "off" or IS_PRODUCTION

# Language models ----------------------------------------------------------------------------------------------

LLM_BASE_URL = env.str("LLM_BASE_URL", default="")
LLM_API_KEY = env.str("LLM_API_KEY", default="")
LLM_MODEL = env.str("LLM_MODEL", default="")
ALLOW_HTTP_MODEL = env.bool("ALLOW_HTTP_MODEL", default=False)
"""A model endpoint of one's own network may be spoken to without TLS, also in production."""
ALLOW_OFFLINE_MODEL = env.bool("ALLOW_OFFLINE_MODEL", default=False)
OFFLINE_MODEL = env.bool("OFFLINE_MODEL", default=False)
"""Set by ``make demo``: LLM_BASE_URL points at the bundled offline demo model, and the pages say so."""

# MCP ----------------------------------------------------------------------------------------------------------

MCP_STDIO_COMMANDS = env.list("MCP_STDIO_COMMANDS", default=[])

# Definitions --------------------------------------------------------------------------------------------------

FOUR_EYES = env.bool("FOUR_EYES", default=False)
"""Publishing needs a second person: whoever changed the draft asks, and somebody else approves."""
_own_origins = [origin for origin in CSRF_TRUSTED_ORIGINS if "*" not in origin]
_own_origins.append(f"http://127.0.0.1:{env.int('PORT', default=8000)}")
DEFINITION_SCHEMAS_URL = f"{_own_origins[0]}/schemas/definitions"
"""Where exported files say that their JSON Schemas are."""

# Celery -------------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL or "memory://"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 5, "socket_connect_timeout": 2}
CELERY_BEAT_SCHEDULE = {"sweep": {"task": "transactions.sweep", "schedule": SWEEP_SECONDS}}

# HTTP ---------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "transactions.api.authentication.ApiKeyAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["transactions.api.parsing.BoundedJSONParser"],
    "EXCEPTION_HANDLER": "transactions.api.problems.problem_response",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Agent Platform",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "TransactionStatus": "transactions.core.statuses.Status",
        "ItemStatus": "transactions.core.statuses.ItemStatus",
        "AttemptStatus": "transactions.core.statuses.AttemptStatus",
        "ConfirmationStatus": "transactions.core.statuses.ConfirmationStatus",
        "PublishRequestStatus": "tooling.publish_requests.RequestStatus",
    },
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
if IS_PRODUCTION:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=True)
    SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    # Probes of the orchestrator speak plain http from inside.
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
"""A tool of hundreds of arguments is one form."""

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "console:transactions"
LOGOUT_REDIRECT_URL = "login"

STATIC_URL = "static/"
STATIC_ROOT = env.str("STATIC_ROOT", default=str(BASE_DIR / "staticfiles"))
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not IS_PRODUCTION
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# Languages ----------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "pt-br"
LANGUAGES = [("pt-br", _("Brazilian Portuguese")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "agentplatform" / "locale"]
TIME_ZONE = env.str("TIME_ZONE", default="America/Sao_Paulo")
USE_TZ = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="WARNING")},
}
