# One image for web, worker, sweeper and migrate; the command says which.
FROM python:3.11-slim-bookworm

# TLS to model and MCP servers uses the trust store of the system.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /home/app --uid 10001 app

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 ENVIRONMENT=production DATA_DIR=/data STATIC_ROOT=/app/staticfiles
WORKDIR /app

COPY requirements/base.txt requirements/base.txt
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r requirements/base.txt

COPY manage.py pyproject.toml ./
COPY agentplatform agentplatform
COPY transactions transactions
COPY tooling tooling
COPY templates templates
COPY static static
# Static files need no secret and no database; the key exists only while this line runs.
RUN SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(64))')" ALLOW_OFFLINE_MODEL=1 \
    python manage.py collectstatic --noinput \
    && mkdir /data && chown app /data

USER app
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=6 \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0", "--port", "8000"]
