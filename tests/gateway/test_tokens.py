"""Tokens of an OpenID provider, and the file that says whose are believed."""

from __future__ import annotations

import asyncio
import base64
import hmac
import http.server
import json
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from gateway.auth.keys import Keys, read_keys
from gateway.auth.new_keys import digest
from gateway.auth.tokens import RETRY_SECONDS, WAITING, Issuer, TokenVerifier
from gateway.http.errors import BusyError, KeysFileError, NoKeyError, NotAllowedError, TooOftenError
from tests.support.clocks import PATIENCE, Clock, eventually

PRIVATE = ec.generate_private_key(ec.SECP256R1())
STRANGER = ec.generate_private_key(ec.SECP256R1())
HOUR = 3600


def public(key: Any, name: str = "k1") -> dict[str, Any]:
    return {**json.loads(jwt.get_algorithm_by_name("ES256").to_jwk(key.public_key())), "kid": name, "alg": "ES256"}


def token(key: Any = PRIVATE, name: str = "k1", algorithm: str = "ES256", **changes: Any) -> str:
    now = int(time.time())
    claims = {"iss": "https://login.example", "aud": "emgas", "sub": "ada", "exp": now + HOUR, "iat": now}
    claims |= {"graphs": ["ada", "team-*"], "rights": ["read"], **changes}
    kept = {claim: value for claim, value in claims.items() if value is not None}
    return jwt.encode(kept, key, algorithm, headers={"kid": name})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [public(PRIVATE)]}))
    path = tmp_path / "keys.toml"
    path.write_text('[oidc]\nissuer = "https://login.example"\naudience = "emgas"\njwks = "jwks.json"\n')
    return path


async def test_a_token_of_the_issuer_opens_the_graphs_and_rights_of_its_claims(file: Path) -> None:
    caller = await read_keys(file).caller(f"Bearer {token()}")
    assert caller.name == "oidc:ada"
    caller.check("read", "ada")
    caller.check("read", "team-b")
    for right, graph_id in (("read", "ben"), ("write", "ada"), ("admin", None)):
        with pytest.raises(NotAllowedError):
            caller.check(right, graph_id)  # type: ignore[arg-type]


async def test_a_token_without_claims_of_ours_opens_nothing(file: Path) -> None:
    caller = await read_keys(file).caller(f"Bearer {token(graphs=None, rights=None)}")
    with pytest.raises(NotAllowedError):
        caller.check("read", "ada")


BAD = {
    "expired": {"exp": 1},
    "not yet valid": {"nbf": 32503680000},
    "of another issuer": {"iss": "https://evil.example"},
    "for another service": {"aud": "mail"},
    "without an end": {"exp": None},
    "without a subject": {"sub": None},
    "signed by a stranger": {"key": STRANGER},
    "signed by an unknown key": {"name": "k2"},
    "with rights that do not exist": {"rights": ["everything"]},
    "with a graph that is no pattern": {"graphs": [""]},
    "signed with another algorithm": {
        "key": rsa.generate_private_key(public_exponent=65537, key_size=2048),
        "algorithm": "RS256",
    },
}


@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_token_opens_nothing(bad: str, file: Path) -> None:
    with pytest.raises(NoKeyError):
        await read_keys(file).caller(f"Bearer {token(**BAD[bad])}")


def encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


async def test_a_token_that_anybody_could_have_made_opens_nothing(file: Path) -> None:
    head, claims, _ = token().split(".")
    head = encoded(json.dumps({"alg": "HS256", "kid": "k1"}).encode())
    secret = json.dumps(public(PRIVATE)).encode()  # the old trick: the public key as the shared secret
    by_public_key = f"{head}.{claims}.{encoded(hmac.digest(secret, f'{head}.{claims}'.encode(), 'sha256'))}"
    for made in (by_public_key, token(key=None, algorithm="none"), "a.b.c", "a.b"):
        with pytest.raises(NoKeyError):
            await read_keys(file).caller(f"Bearer {made}")


async def test_rotated_keys_are_believed_without_a_restart(file: Path) -> None:
    keys = read_keys(file)
    (file.parent / "jwks.json").write_text(json.dumps({"keys": [public(STRANGER, "k2")]}))
    assert (await keys.caller(f"Bearer {token(key=STRANGER, name='k2')}")).name == "oidc:ada"
    with pytest.raises(NoKeyError):
        await keys.caller(f"Bearer {token()}")


async def test_a_token_has_a_rate_by_its_subject(file: Path) -> None:
    keys = read_keys(file)
    await keys.caller(f"Bearer {token(per_minute=1)}")
    with pytest.raises(TooOftenError):
        await keys.caller(f"Bearer {token(per_minute=1, jti='another')}")
    await keys.caller(f"Bearer {token(per_minute=1, sub='ben')}")


@pytest.fixture
def address() -> Iterator[str]:
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"keys": [public(PRIVATE)]}).encode())

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/jwks.json"
        server.shutdown()


async def test_the_issuers_keys_may_be_fetched(file: Path, address: str) -> None:
    file.write_text(file.read_text().replace("jwks.json", address))
    assert (await read_keys(file).caller(f"Bearer {token()}")).name == "oidc:ada"
    file.write_text(file.read_text().replace(address, "http://127.0.0.1:1/"))
    with pytest.raises(NoKeyError):
        await read_keys(file).caller(f"Bearer {token()}")


class Provider:
    """An issuer's server: counts who asks, and answers once `answering` is set."""

    def __init__(self) -> None:
        self.keys, self.requests, self.answering = [public(PRIVATE)], 0, threading.Event()
        self.status = 200

    def serve(self) -> http.server.ThreadingHTTPServer:
        provider = self

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.requests += 1
                provider.answering.wait(PATIENCE)
                self.send_response(provider.status)
                self.end_headers()
                self.wfile.write(json.dumps({"keys": provider.keys}).encode())

            def log_message(self, *_: Any) -> None:
                pass

        return http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)


@pytest.fixture
def provider(file: Path) -> Iterator[Provider]:
    """Let the file name a provider that hangs until it is told to answer."""
    provider = Provider()
    with provider.serve() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        jwks = f"http://127.0.0.1:{server.server_address[1]}/jwks.json"
        file.write_text(file.read_text().replace("jwks.json", jwks))
        yield provider
        provider.answering.set()
        server.shutdown()


async def refused(keys: Keys, name: str) -> str:
    """Return why a token that names a key which nobody has is refused."""
    try:
        await keys.caller(f"Bearer {token(key=STRANGER, name=name)}")
    except (NoKeyError, BusyError) as error:
        return type(error).__name__
    raise AssertionError("it was let in")


async def test_tokens_that_wait_for_a_provider_that_hangs_keep_no_thread_from_others(
    file: Path, provider: Provider
) -> None:
    keys = read_keys(file)
    async with asyncio.timeout(PATIENCE):
        waiting = [asyncio.create_task(refused(keys, f"junk{n}")) for n in range(40)]
        await eventually(lambda: provider.requests)
        await asyncio.to_thread(lambda: None)  # as an import reads its file
        assert not any(task.done() for task in waiting)
        provider.answering.set()
        assert set(await asyncio.gather(*waiting)) == {"NoKeyError"}
    assert provider.requests == 1


async def test_more_tokens_than_may_wait_are_refused_at_once(file: Path, provider: Provider) -> None:
    keys = read_keys(file)
    async with asyncio.timeout(PATIENCE):
        waiting = [asyncio.create_task(refused(keys, f"junk{n}")) for n in range(WAITING)]
        await eventually(lambda: provider.requests)
        assert await refused(keys, "one more") == "BusyError"
        provider.answering.set()
        await asyncio.gather(*waiting)


async def test_a_token_with_a_known_key_does_not_wait_for_a_provider_that_hangs(file: Path, provider: Provider) -> None:
    clock = Clock(1000.0)
    keys = TokenVerifier(tokens_issuer(file), file.parent, clock)
    provider.answering.set()
    await keys.claims(token())
    provider.answering.clear()
    clock.now += RETRY_SECONDS
    async with asyncio.timeout(PATIENCE):
        junk = asyncio.create_task(keys.claims(token(key=STRANGER, name="junk")))
        await eventually(lambda: provider.requests == 2)
        assert (await keys.claims(token()))["sub"] == "ada"
        assert not junk.done()
        provider.answering.set()
        with pytest.raises(NoKeyError):
            await junk


async def test_a_fetch_that_failed_is_tried_again_after_half_a_minute(file: Path, provider: Provider) -> None:
    clock = Clock(1000.0)
    keys = TokenVerifier(tokens_issuer(file), file.parent, clock)
    provider.answering.set()
    provider.status = 500
    for _ in range(5):
        with pytest.raises(NoKeyError):
            await keys.claims(token())
    assert provider.requests == 1
    provider.status, clock.now = 200, clock.now + RETRY_SECONDS
    assert (await keys.claims(token()))["sub"] == "ada"
    assert provider.requests == 2


async def test_invented_names_of_keys_are_not_asked_for_one_by_one(file: Path, provider: Provider) -> None:
    clock = Clock(1000.0)
    keys = TokenVerifier(tokens_issuer(file), file.parent, clock)
    provider.answering.set()
    assert (await keys.claims(token()))["sub"] == "ada"
    provider.keys.append(public(STRANGER, "k2"))
    for number in range(5):
        with pytest.raises(NoKeyError):
            await keys.claims(token(key=STRANGER, name=f"junk{number}"))
    assert provider.requests == 1
    clock.now += RETRY_SECONDS
    assert (await keys.claims(token(key=STRANGER, name="k2")))["sub"] == "ada"


def tokens_issuer(file: Path) -> Issuer:
    """Return whose tokens the file names."""
    return Issuer.model_validate(tomllib.loads(file.read_text())["oidc"])


async def test_keys_and_tokens_stand_in_one_file(file: Path) -> None:
    entry = f'[[key]]\nname = "app"\nsha256 = "{digest("secret")}"\ngraphs = ["*"]\nrights = ["read"]\n'
    file.write_text(entry + file.read_text())
    keys = read_keys(file)
    assert (await keys.caller("Bearer secret")).name == "app"
    assert (await keys.caller(f"bearer  {token()}")).name == "oidc:ada"
    for nothing in (None, "", "Bearer", "Bearer ", "Basic secret", "Bearer other", "secret"):
        with pytest.raises(NoKeyError):
            await keys.caller(nothing)


KEY = f'[[key]]\nname = "a"\nsha256 = "{digest("a")}"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"name at least one \[\[key\]\]"),
        ("[[key]", "is not TOML"),
        ("\udcff", "is not TOML"),
        ('[[key]]\nname = "a"\n', "needs its sha256"),
        (KEY + 'graphs = [""]\n', "graphs"),
        (KEY + 'rights = ["all"]\n', "rights"),
        (KEY + "colour = 1\n", "colour: is not a known field"),
        (KEY + KEY, "the same name"),
        (KEY + KEY.replace('"a"', '"b"', 1), "the same sha256"),
        ('[oidc]\nissuer = "x"\n', "`oidc.audience` and `oidc.jwks` are missing"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(KeysFileError, match=message):
        read_keys(tmp_path / "keys.toml")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeysFileError, match="No such file"):
        read_keys(tmp_path / "keys.toml")
