"""What the tests of outages rely on: the Redis and the PostgreSQL of their own really go, and come back."""

import pytest

from tests.own_services import own_postgres, own_redis

pytestmark = [pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(90)]


def test_an_own_redis_is_wiped_frozen_and_killed_and_comes_back_empty(processes):
    with own_redis(processes) as redis:
        redis.command("SET a 1")
        redis.flush()
        assert redis.command("EXISTS a") == b":0"

        redis.command("SET a 1")
        redis.freeze()
        assert redis.command("PING") == b""
        redis.thaw()
        assert redis.command("EXISTS a") == b":1"

        redis.kill()
        redis.start()
        assert redis.command("EXISTS a") == b":0"


def test_an_own_postgres_keeps_what_was_committed_and_nothing_else(processes):
    import psycopg

    with own_postgres(processes) as postgres:
        with psycopg.connect(postgres.url) as connection:
            connection.execute("CREATE TABLE kept (word text)")
            connection.execute("INSERT INTO kept VALUES ('committed')")
        open_one = psycopg.connect(postgres.url)
        open_one.execute("INSERT INTO kept VALUES ('open')")

        postgres.restart_immediately()

        with psycopg.connect(postgres.url) as connection:
            assert connection.execute("SELECT word FROM kept").fetchall() == [("committed",)]
        folder = postgres.folder
    assert not folder.exists()
