"""Who the user is comes from a signed token and nowhere else; a session is good for one conversation and one time."""

import base64
import time

import jwt
import pytest
from django.core import signing
from django.core.cache import cache
from django.test import Client

from transactions.models import Channel, Conversation
from transactions.services.conversations import open_conversation
from transactions.sessions import (
    SALT,
    Rejected,
    allows_origin,
    identity_named,
    identity_of,
    is_known_origin,
    mint_user_token,
    open_session,
    read_session,
)

pytestmark = pytest.mark.django_db
PATH = "/api/v1/chat/sessions"
KEY = "the-key-of-the-shop-" * 4
SHOP = "https://shop.example"


@pytest.fixture
def shop(monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN_KEY", KEY)
    return Channel.objects.create(key="shop", origins=[SHOP], jwt_secret_env="SHOP_TOKEN_KEY")


@pytest.fixture
def kiosk():
    return Channel.objects.create(key="kiosk", locale="en", origins=["https://kiosk.example"], anonymous=True)


def token(key=KEY, algorithm="HS256", **claims):
    whole = {"exp": time.time() + 60, "business": {"customer_key": "c-1", "contract_key": 7}} | claims
    whole = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(whole, key, algorithm=algorithm)


def ask(client, body, **headers):
    return client.post(PATH, body, content_type="application/json", headers=headers)


# The user token


def test_the_business_claim_is_the_identity(shop):
    assert identity_of(token(), shop) == {"customer_key": "c-1", "contract_key": 7}


@pytest.mark.parametrize(
    "bad",
    [
        token(key="another-key-" * 4),
        token(key="", algorithm="none"),
        token(algorithm="HS512"),
        token(exp=time.time() - 1),
        token(exp=None),
        token(exp="soon"),
        token(exp=[]),
        token(exp=float("1e400")),
        token(aud="somebody else"),
        token(nbf=time.time() + 3600),
        token(business=None),
        token(business="c-1"),
        token(business=["c-1"]),
        token(business={"customer_key": ["c-1"]}),
        token(business={"customer_key": True}),
        token(business={"customer_key": 1.5}),
        token(business={"customer_key": ""}),
        token(business={"customer_key": "c" * 201}),
        token(business={"customer_key": "c\x00"}),
        token(business={"customer_key": 10**30}),
        token(business={f"key{number}": "x" for number in range(21)}),
        "",
        "a.b.c",
        "é.é.é",
        "\ud800",
        "[" * 8000,
        "x" * 9000,
    ],
    ids=range(27),
)
def test_a_token_that_proves_nothing_is_rejected_with_a_reason(shop, bad):
    found = identity_of(bad, shop)

    assert isinstance(found, Rejected)
    assert found.reason


def test_a_token_whose_header_is_deeper_than_the_stack_is_rejected(shop):
    deep = base64.urlsafe_b64encode(b"[" * 4000).decode().rstrip("=")

    assert isinstance(identity_of(f"{deep}.e30.x", shop), Rejected)


def test_a_channel_without_a_key_accepts_no_token(shop, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN_KEY", "")

    assert isinstance(identity_of(token(), shop), Rejected)


def test_a_key_that_a_demo_has_kept_is_found_in_development_only(shop, monkeypatch, settings, tmp_path):
    monkeypatch.delenv("SHOP_TOKEN_KEY")
    settings.DATA_DIR = tmp_path
    (tmp_path / "shop_token_key").write_text(KEY + "\n")

    assert identity_of(token(), shop) == {"customer_key": "c-1", "contract_key": 7}
    settings.IS_PRODUCTION = True
    assert isinstance(identity_of(token(), shop), Rejected)


def test_the_name_of_a_key_is_no_path(shop, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    (tmp_path / "outside").write_text(KEY)
    shop.jwt_secret_env = "../outside"

    assert isinstance(identity_of(token(), shop), Rejected)


def test_a_token_that_we_mint_is_one_that_we_accept(shop, kiosk):
    minted = mint_user_token(shop, identity_named("c-9"), seconds=60)

    assert identity_of(minted, shop) == {"customer_key": "c-9", "contract_key": "c-9"}
    assert mint_user_token(kiosk, identity_named("c-9"), seconds=60) is None


# The session token


def test_a_session_token_says_which_conversation_and_until_when(shop, settings):
    settings.SESSION_SECONDS = 60
    conversation = open_conversation(shop, locale="pt-BR", identity={})

    text, session = open_session(conversation, shop)

    assert read_session(text) == session
    assert (session.conversation_id, session.channel) == (conversation.pk, "shop")
    assert not session.is_expired
    assert 55 < session.expires_at - time.time() <= 60


def test_a_session_ends(shop, settings):
    settings.SESSION_SECONDS = -1
    conversation = open_conversation(shop, locale="pt-BR", identity={})

    text, _ = open_session(conversation, shop)

    assert read_session(text).is_expired


@pytest.mark.parametrize("content", [None, 1, [], ["x", "shop", 1], ["x", "shop"], {"a": 1}], ids=repr)
def test_something_else_that_we_signed_is_no_session(content):
    assert read_session(signing.dumps(content, salt=SALT)) is None


def test_a_token_of_another_signer_is_no_session(shop, settings):
    text, _ = open_session(open_conversation(shop, locale="pt-BR", identity={}), shop)

    assert read_session("") is None
    assert read_session(text[:-1]) is None
    assert read_session(signing.dumps(["x"], salt="another purpose")) is None
    settings.SECRET_KEY = "another key of fifty characters, as production needs it"
    assert read_session(text) is None


# Origins


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "*",
        "",
        "https://shop.example.evil.example",
        "http://shop.example",
        "https://shop.example:8443",
        "https://shop.example/",
        "https://SHOP.example",
    ],
)
def test_only_a_listed_origin_is_allowed_letter_for_letter(shop, origin):
    assert allows_origin(shop, SHOP)
    assert not allows_origin(shop, origin)


@pytest.mark.parametrize("listed", [["*"], ["null"], SHOP + "/x", {SHOP: 1}, None])
def test_a_list_of_origins_is_a_list_and_has_no_patterns(listed):
    channel = Channel(key="x", origins=listed)

    assert not any(allows_origin(channel, origin) for origin in ("*", "null", SHOP))


def test_no_origin_is_accepted_only_where_the_channel_says_so(shop):
    assert not allows_origin(shop, None)
    shop.allow_no_origin = True
    assert allows_origin(shop, None)


def test_an_origin_is_known_when_any_channel_lists_it(shop, kiosk):
    assert is_known_origin(SHOP)
    assert is_known_origin("https://kiosk.example")
    assert not is_known_origin("https://evil.example")
    assert not is_known_origin(None)


# The endpoint


@pytest.mark.parametrize("path", [PATH, PATH + "/"])
def test_a_good_token_opens_a_session(client, shop, path):
    body = {"channel": "shop", "locale": "en", "user_token": token(), "customer_key": "another"}

    answer = client.post(path, body, content_type="application/json")

    assert answer.status_code == 201
    content = answer.json()
    assert set(content) == {"conversation_id", "session_token", "expires_at", "ws_path"}
    assert content["ws_path"] == "/ws/chat/"
    assert content["expires_at"].endswith("Z")
    conversation = Conversation.objects.get()
    assert (str(conversation.pk), conversation.locale) == (content["conversation_id"], "en")
    assert conversation.identity == {"customer_key": "c-1", "contract_key": 7}
    assert read_session(content["session_token"]).conversation_id == conversation.pk


@pytest.mark.parametrize("bad", ["nonsense", token(key="another-key-" * 4), token(exp=1)])
def test_a_bad_token_is_401_even_where_none_is_needed(client, shop, kiosk, monkeypatch, bad):
    for channel in ("shop", "kiosk"):
        answer = ask(client, {"channel": channel, "user_token": bad})

        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert answer.headers["Content-Type"] == "application/problem+json"
    assert not Conversation.objects.exists()


def test_no_token_is_401_unless_the_channel_takes_strangers(client, shop, kiosk):
    assert ask(client, {"channel": "shop"}).status_code == 401
    assert ask(client, {"channel": "kiosk", "user_token": None}).status_code == 201
    assert Conversation.objects.get().identity == {}


def test_an_unknown_channel_is_404(client, shop):
    assert ask(client, {"channel": "nowhere", "user_token": token()}).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "5",
        "{",
        '"shop"',
        "{}",
        '{"channel": 5.5}',
        '{"channel": ["shop"]}',
        '{"channel": "shop", "locale": []}',
        '{"channel": "shop", "user_token": {"a": 1}}',
        '{"channel": NaN}',
    ],
)
def test_a_body_that_is_no_session_request_is_400(client, shop, body):
    assert ask(client, body).status_code in (400, 404)
    assert not Conversation.objects.exists()


def test_a_body_that_is_too_large_is_413(client, shop):
    assert ask(client, {"channel": "shop", "padding": "x" * 20_000}).status_code == 413


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [("pt-BR", "pt-BR"), ("pt", "pt-BR"), ("PT_br", "pt-BR"), ("en-US", "en"), ("fr", "en"), ("", "en"), (None, "en")],
)
def test_a_locale_that_we_do_not_speak_becomes_the_channels(client, kiosk, asked, spoken):
    ask(client, {"channel": "kiosk", "locale": asked})

    assert Conversation.objects.get().locale == spoken


def test_only_the_channels_own_sites_may_read_the_answer(client, shop, kiosk):
    body = {"channel": "shop", "user_token": token()}

    own = ask(client, body, origin=SHOP)
    of_another_channel = ask(client, body, origin="https://kiosk.example")
    foreign = ask(client, body, origin="https://evil.example")

    assert own.headers["Access-Control-Allow-Origin"] == SHOP
    assert "Access-Control-Allow-Origin" not in of_another_channel.headers
    assert "Access-Control-Allow-Origin" not in foreign.headers
    assert "Origin" in own.headers["Vary"]


def test_a_refusal_can_be_read_by_the_channels_own_site(client, shop):
    answer = ask(client, {"channel": "shop", "user_token": "bad"}, origin=SHOP)

    assert answer.status_code == 401
    assert answer.headers["Access-Control-Allow-Origin"] == SHOP


def test_a_browser_may_ask_before_it_posts(client, shop):
    known = client.options(PATH, headers={"origin": SHOP, "access-control-request-method": "POST"})
    foreign = client.options(PATH, headers={"origin": "https://evil.example"})

    assert (known.status_code, foreign.status_code) == (204, 204)
    assert known.headers["Access-Control-Allow-Origin"] == SHOP
    assert known.headers["Access-Control-Allow-Headers"] == "Content-Type"
    assert "Access-Control-Allow-Origin" not in foreign.headers


def test_no_cookie_and_no_csrf_token_are_needed(shop):
    strict = Client(enforce_csrf_checks=True)

    assert ask(strict, {"channel": "shop", "user_token": token()}).status_code == 201


def test_one_address_opens_a_bounded_number_of_sessions_whatever_it_says_it_is(client, kiosk, settings):
    cache.clear()
    settings.RATE_LIMITS = True

    codes = [
        ask(client, {"channel": "kiosk"}, **{"x-forwarded-for": f"203.0.113.{number}"}).status_code
        for number in range(61)
    ]

    assert codes[:60] == [201] * 60
    assert codes[60] == 429
    cache.clear()
