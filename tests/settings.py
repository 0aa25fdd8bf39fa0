"""Settings of the tests: the product's own, with everything on disk in a directory that is thrown away.

``TEST_ON=postgres`` runs the tests on a scratch PostgreSQL database instead of SQLite.
"""

import atexit
import os
import shutil
import tempfile
import uuid

from tests.services import TEST_ON, postgres_server

if "PYTEST_XDIST_WORKER" not in os.environ:
    # Workers of a parallel run inherit the directory and the database name of the process that started them.
    folder = tempfile.mkdtemp(prefix="agentplatform-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["DATA_DIR"] = os.environ["STATIC_ROOT"] = folder
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/db.sqlite3"
    if TEST_ON == "postgres":
        os.environ["DATABASE_URL"] = postgres_server(f"agentplatform_{uuid.uuid4().hex[:10]}")
os.environ |= {"ENVIRONMENT": "development", "RATE_LIMITS": "off", "SECRET_KEY": "only-for-tests-" * 4}
# A test looks at live servers when it wants to, not because a sweeper came by.
os.environ["DRIFT_SECONDS"] = "0"
NOT_SET = "REDIS_URL LLM_BASE_URL LLM_API_KEY LLM_MODEL OFFLINE_MODEL MCP_STDIO_COMMANDS FOUR_EYES"
for name in NOT_SET.split():
    # A developer's own shell must not decide how tests behave, or pay for them.
    os.environ.pop(name, None)

from agentplatform.settings import *  # noqa: E402, F403 - the environment has to be set before it is read
