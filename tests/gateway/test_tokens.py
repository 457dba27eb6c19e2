"""Tokens of an OpenID provider, and the file that says whose are believed."""

from __future__ import annotations

import base64
import hmac
import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from gateway.errors import KeysFileError, NoKeyError, NotAllowedError, TooOftenError
from gateway.keys import read_keys
from gateway.new_keys import digest

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
    ("text", "told"),
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
        ('[oidc]\nissuer = "x"\n', "audience: is missing"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(KeysFileError, match=told):
        read_keys(tmp_path / "keys.toml")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeysFileError, match="No such file"):
        read_keys(tmp_path / "keys.toml")
