"""A body without end fills neither memory nor disk, whoever sends it and whether or not it says how long it is."""

import http.client
import json

import pytest

from agentplatform.bodies import LARGEST_BODY
from tests.chat_channel import serving

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def address():
    with serving() as address:
        yield address


def posted(address, path, body, **headers):
    """Status, content type and body of the answer; None where the connection was cut while we still wrote."""
    connection = http.client.HTTPConnection(address, timeout=20)
    try:
        connection.request("POST", path, body, headers, encode_chunked="transfer-encoding" in headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["content-type"], answer.read()
    except ConnectionError:
        return None
    finally:
        connection.close()


def chunks_of(number):
    return (b"x" * 65536 for _ in range(number))


def test_a_body_that_says_that_it_is_too_long_is_refused_before_it_is_read(address):
    connection = http.client.HTTPConnection(address, timeout=20)
    connection.putrequest("POST", "/login/")
    connection.putheader("content-length", str(LARGEST_BODY + 1))
    connection.endheaders()

    answer = connection.getresponse()

    assert answer.status == 413
    connection.close()


def test_a_body_that_does_not_say_how_long_it_is_is_cut_off(address):
    chunks = 2 * LARGEST_BODY // 65536
    sent = []
    body = (sent.append(len(chunk)) or chunk for chunk in chunks_of(chunks))

    answer = posted(address, "/api/v1/chat/sessions", body, **{"transfer-encoding": "chunked"})

    if answer is None:
        assert sum(sent) >= LARGEST_BODY
    else:
        status, kind, read = answer
        assert (status, kind) == (413, "application/problem+json")
        assert json.loads(read)["code"] == "too_large"


def test_a_body_below_the_limit_reaches_the_endpoint(address):
    status, _, read = posted(address, "/api/v1/chat/sessions", b"{}", **{"content-type": "application/json"})

    assert status == 400
    assert b"channel" in read
