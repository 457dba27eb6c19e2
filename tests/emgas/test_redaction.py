"""No key, token or password of a text is stored: prose, code and settings; talk stays as it is."""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.messages.fields import Attachment
from emgas.messages.turns import Turn
from emgas.redaction import NAMES, count_redacted, find_secrets, redact, redact_bytes, redact_message, secrets_of
from tests.emgas.secret_positions import POSITIONS

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM, HEX = UPPER + LOWER + DIGITS, "0123456789abcdef"
URL_SAFE = ALNUM + "_-"


def _of(alphabet: str, length: int) -> Callable[[random.Random], str]:
    """Return what makes a random word, which ends in a digit so that it is no word of a language."""
    return lambda chance: "".join(chance.choices(alphabet, k=length - 1)) + chance.choice("23456789")


# Made by the issuers' documentation, before the patterns: what comes before the random part, the part, what is behind.
FORMS: dict[str, tuple[str, Callable[[random.Random], str], str]] = {
    "anthropic": ("sk-ant-api03-", _of(URL_SAFE, 93), "AA"),
    "openai project": ("sk-proj-", _of(URL_SAFE, 120), ""),
    "openai": ("sk-", _of(ALNUM, 48), ""),
    "aws access key": ("AKIA", _of(UPPER + "234567", 16), ""),
    "aws session key": ("ASIA", _of(UPPER + "234567", 16), ""),
    "aws secret key": ("aws_secret_access_key = ", _of(ALNUM + "/+", 40), ""),
    "google": ("AIza", _of(URL_SAFE, 35), ""),
    "google oauth": ("GOCSPX-", _of(URL_SAFE, 28), ""),
    "github": ("ghp_", _of(ALNUM, 36), ""),
    "github app": ("ghs_", _of(ALNUM, 36), ""),
    "github fine-grained": ("github_pat_", _of(ALNUM, 22), "_" + "k" * 58 + "7"),
    "gitlab": ("glpat-", _of(URL_SAFE, 20), ""),
    "slack bot": ("xoxb-", _of(DIGITS, 12), "-123456789012-" + "a" * 24),
    "slack app": ("xapp-1-A0", _of(UPPER + DIGITS, 9), "-123456789012-" + "b" * 64),
    "slack webhook": ("https://hooks.slack.com/services/T0", _of(UPPER + DIGITS, 9), "/B01234567/" + "c" * 24),
    "discord webhook": ("https://discord.com/api/webhooks/12345678/", _of(URL_SAFE, 68), ""),
    "stripe": ("sk_live_", _of(ALNUM, 24), ""),
    "stripe restricted": ("rk_test_", _of(ALNUM, 24), ""),
    "telegram": ("123456789:AA", _of(URL_SAFE, 33), ""),
    "npm": ("npm_", _of(ALNUM, 36), ""),
    "pypi": ("pypi-AgEIcHlwaS5vcmc", _of(URL_SAFE, 80), ""),
    "hugging face": ("hf_", _of(ALNUM, 34), ""),
    "sendgrid": ("SG.", _of(URL_SAFE, 22), "." + "Ab3" * 14 + "x"),
    "mailchimp": ("", _of(HEX, 32), "-us12"),
    "mailgun": ("key-", _of(HEX, 32), ""),
    "twilio": ("SK", _of(HEX, 32), ""),
    "square": ("sq0csp-", _of(URL_SAFE, 43), ""),
    "shopify": ("shpat_", _of(HEX, 32), ""),
    "digitalocean": ("dop_v1_", _of(HEX, 64), ""),
    "databricks": ("dapi", _of(HEX, 32), ""),
    "atlassian": ("ATATT3xFfGF0", _of(URL_SAFE, 100), ""),
    "notion": ("ntn_", _of(ALNUM, 46), ""),
    "linear": ("lin_api_", _of(ALNUM, 40), ""),
    "postman": ("PMAK-", _of(HEX, 24), "-" + "0a" * 17),
    "new relic": ("NRAK-", _of(UPPER + DIGITS, 27), ""),
    "grafana": ("glsa_", _of(ALNUM, 32), "_0a1b2c3d"),
    "vault": ("hvs.", _of(URL_SAFE, 90), ""),
    "doppler": ("dp.pt.", _of(ALNUM, 43), ""),
    "docker": ("dckr_pat_", _of(URL_SAFE, 27), ""),
    "age": ("AGE-SECRET-KEY-1", _of(UPPER + DIGITS, 58), ""),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.", _of(URL_SAFE, 43), ""),
    "azure storage": ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", _of(ALNUM + "+/", 86), "=="),
    "azure signature": ("https://a.blob.core.windows.net/c?sv=2024&sig=", _of(ALNUM, 43), "%3D"),
    "basic auth": ("postgres://ada:", _of(ALNUM + "!$*", 14), "@db.example.org:5432/main"),
    "authorization": ("Authorization: Basic ", _of(ALNUM, 24), "=="),
    "bearer": ("Bearer ", _of(ALNUM, 40), ""),
    "password": ("password: ", _of(LOWER, 8), ""),
    "密码": ("密码是", _of(LOWER, 10), ""),
    "api key": ("api_key=", _of(ALNUM, 32), ""),
    "heroku": ("HEROKU_API_KEY=01234567-89ab-cdef-0123-", _of(HEX, 12), ""),
    "private": ("<private>", _of(LOWER + " ", 30), "</private>"),
    "pem": ("-----BEGIN EC PRIVATE KEY-----\n", _of(ALNUM + "+/", 64), "\n-----END EC PRIVATE KEY-----"),
    "openrouter": ("sk-or-v1-", _of(HEX, 64), ""),
    "stripe webhook": ("whsec_", _of(ALNUM, 32), ""),
    "google token": ("ya29.a0", _of(URL_SAFE, 100), ""),
    "teams webhook": (
        "https://contoso.webhook.office.com/webhookb2/",
        _of(HEX, 36),
        "@1b2/IncomingWebhook/" + "d" * 32,
    ),
    "discord bot": ("M", _of(ALNUM, 24), ".Gq1w2e." + "Zx9_" * 9),
    "npmrc": ("//registry.example.org/:_authToken=", _of(ALNUM, 40), ""),
    "rubygems": ("rubygems_", _of(HEX, 48), ""),
    "groq": ("gsk_", _of(ALNUM, 52), ""),
    "replicate": ("r8_", _of(ALNUM, 37), ""),
    "perplexity": ("pplx-", _of(ALNUM, 48), ""),
    "xai": ("xai-", _of(ALNUM, 80), ""),
    "facebook": ("EAAC", _of(ALNUM, 120), ""),
    "figma": ("figd_", _of(URL_SAFE, 40), ""),
    "sentry": ("sntrys_", _of(ALNUM, 80), ""),
    "terraform": ("", _of(ALNUM, 14), ".atlasv1." + "Tf3-" * 17),
    "pulumi": ("pul-", _of(HEX, 40), ""),
    "planetscale": ("pscale_pw_", _of(URL_SAFE, 43), ""),
    "supabase": ("sbp_", _of(HEX, 40), ""),
    "dropbox": ("sl.", _of(URL_SAFE, 135), ""),
    "artifactory": ("AKC", _of(ALNUM, 70), ""),
    "airtable": ("pat", _of(ALNUM, 14), "." + "0af9" * 16),
    "adobe": ("p8e-", _of(ALNUM, 32), ""),
    "alibaba": ("LTAI", _of(ALNUM, 20), ""),
    "tencent": ("AKID", _of(ALNUM, 32), ""),
    "azure app": ("AZURE_CLIENT_SECRET: ", _of(ALNUM, 3), "8Q~" + "aZ-4" * 8),
    "cloudflare": ("CLOUDFLARE_TOKEN=", _of(URL_SAFE, 40), ""),
    "ibm": ("IBM_CLOUD: ", _of(URL_SAFE, 44), ""),
    "datadog": ("the datadog one is ", _of(HEX, 32), ""),
    "deepseek": ("DASHSCOPE: ", _of(HEX, 36), ""),
}
FORMS |= {
    "mapbox": ("sk.eyJ1IjoiYWRhIiwiYSI6ImNr", _of(ALNUM, 20), "." + "x7Kq" * 5),
    "twitch": ("oauth:", _of(LOWER + DIGITS, 30), ""),
    "cookie": ("Cookie: sessionid=", _of(ALNUM, 40), ""),
}
AROUND = (
    "{}",
    "Here you go: {} Please don't share it!",
    "my new one is {}, keep it safe",
    "`export TOKEN='{}'`",
    '{{"value": "{}"}}',
    "这是我的 {} ，别告诉别人。",
    "see the file:\nFIRST=1\n{}\nLAST=2",
)
TALK = (
    "My password is the name of our first dog, but I won't tell you which.",
    "The secret is to salt the water before the pasta goes in.",
    "She lost her keys again, and the key to the shed too.",
    "I forgot my password. Can you send me the reset link?",
    "Der Token liegt im Foyer, und mein Passwort habe ich vergessen.",
    "Our flight is LH2037, booking reference XK4P7Q, seat 23A.",
    "Call me at +49 170 1234567 or write to ada.lovelace@example.org.",
    "https://en.wikipedia.org/wiki/Long-term_potentiation#History explains it.",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the build",
    "The order 550e8400-e29b-41d4-a716-446655440000 arrived on Tuesday.",
    "我把钥匙落在公司了，密码锁也打不开。",
    "Supercalifragilisticexpialidocious is the longest word she knows.",
    "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz",
    "The token of my appreciation is a cake.",
    "    password = request.form['password']\n    hashed = hash_password(password)",
    "    password_hash = db.Column(db.String(128), nullable=False)",
    "self.password = new_password\nconnect(user=user, password=password, port=5432)",
    "const token = jwt.sign(payload1, process.env.SECRET_2, { expiresIn: '15m' });",
    "access_token = create_access_token(identity=user1)",
    "JWT_SECRET = os.environ['JWT_SECRET_2']\nAPI_KEY=${API_KEY_2}",
    "interface Login { user: string; password: string; remember?: boolean }",
    "if (!form.password) errors.password = 'Password is required';",
    "- `DOCKER_PASSWORD`: Your password of the registry.",
    "if not password:\n        return jsonify(error)",
    'print(f"Hashed password: {user.password_hash}")',
    "| `password_hash` | the password, hashed by bcrypt with 12 rounds |",
    '<input type="password" id="password" name="password" placeholder="at least 8 characters">',
    "She passed the salt; pass: that is what the referee called.",
    "I'd like a cookie: chocolate, if there is one left.",
    "PIN code 560001 is our part of Bengaluru.",
    "My login is the same as at work, and the password too.",
    "run it with --token-file /run/token and --verbose",
    "The primary key is a number, and the foreign key is nullable.",
    "¿La contraseña es la misma? Sí, es la de siempre.",
    "パスワードは忘れました。",
    "El token es gratis para estudiantes.",
)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_replaced_and_the_text_around_it_stays(form: str, around: str) -> None:
    before, made, behind = FORMS[form]
    secret = made(random.Random(f"{form} {around}"))
    text = around.format(f"{before}{secret}{behind}")
    redacted = redact(text)
    assert secret not in redacted
    assert "[secret: " in redacted
    head, tail = around.split("{}") if "{{" not in around else ('{"value": "', '"}')
    assert redacted.startswith(head.replace("{{", "{")[:10])
    assert redacted.endswith(tail.replace("}}", "}")[-8:])
    assert redact(redacted) == redacted, "what was replaced is not replaced again"


def _fakes(per_form: int) -> Iterator[tuple[str, str, str]]:
    """Yield the form, the secret and the text of `per_form` made-up secrets of each form, in all surroundings."""
    for form, (before, made, behind) in FORMS.items():
        for number in range(per_form):
            secret = made(random.Random(f"{form} {number}"))
            yield form, secret, AROUND[number % len(AROUND)].format(f"{before}{secret}{behind}")


def test_at_least_99_of_100_made_up_secrets_of_every_kind_are_replaced() -> None:
    fakes = list(_fakes(4 * len(AROUND)))
    missed = Counter(form for form, secret, text in fakes if secret in redact(text) or not secrets_of(text))
    assert sum(missed.values()) <= len(fakes) / 100, missed
    assert all(count <= 4 * len(AROUND) / 20 for count in missed.values()), f"no kind is missed often: {missed}"


def test_every_kind_of_secret_has_a_made_up_one() -> None:
    assert {kind for _, _, text in _fakes(len(AROUND)) for kind in secrets_of(text)} == set(NAMES)
    assert len(NAMES) >= 30


def test_a_secret_is_listed_with_its_line_even_behind_one_of_many_lines() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEow\n-----END PRIVATE KEY-----"
    text = f"first\n{key}\n\nthen ghp_{'a' * 35}1\npassword: hunter22"
    assert find_secrets(text) == [("private key", 2), ("github token", 6), ("password", 7)]


@pytest.mark.parametrize(("secret", "around"), POSITIONS.values(), ids=POSITIONS)
def test_a_secret_is_replaced_wherever_people_leave_it(secret: str, around: str) -> None:
    redacted = redact(around.format(secret))
    assert secret not in redacted
    assert "[secret: " in redacted
    assert redacted.split("[secret: ")[0] == around.format(secret)[: redacted.index("[secret: ")]
    assert redact(redacted) == redacted


@pytest.mark.parametrize("text", TALK)
def test_ordinary_talk_stays_as_it_is(text: str) -> None:
    assert redact(text) == text
    assert not secrets_of(text)


def test_a_private_key_goes_whole_even_where_its_end_is_missing() -> None:
    body = "MIIEowIBAAKCAQEA7bq\nZm9vYmFy\n"
    whole = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----"
    assert redact(f"mine:\n{whole}\nbye") == "mine:\n[secret: private key]\nbye"
    assert redact(f"mine:\n-----BEGIN PRIVATE KEY-----\n{body}") == "mine:\n[secret: private key]"


def test_what_you_mark_as_private_is_not_kept() -> None:
    assert redact("Meet me <private>at Lena's</private> at six.") == "Meet me [secret: private] at six."
    assert redact("<PRIVATE>all of it") == "[secret: private]"


def test_secrets_are_counted_by_kind() -> None:
    text = f"AKIA{'Q' * 15}7 and ghp_{'a' * 35}1 and ghp_{'b' * 35}2"
    assert secrets_of(text) == {"aws access key": 1, "github token": 2}
    assert count_redacted(redact(text)) == 3
    assert secrets_of(redact(text)) == {}


def test_a_turns_texts_and_metadata_are_redacted_and_its_ids_are_not() -> None:
    secret = "ghp_" + "a" * 35 + "1"
    photo = Attachment(uri=f"https://ada:{secret}@example.org/p.png", caption=f"a screen with {secret}")
    turn = Turn(
        id=secret, graph="ada", speaker="Ada", text=f"it is {secret}", metadata={"note": secret, "n": 3},
        attachments=[photo],
    )  # fmt: skip
    redacted = redact_message(turn)
    assert redacted.id == secret
    assert secret not in redacted.model_dump_json(exclude={"id"})
    assert redacted.metadata["n"] == 3
    plain = Turn(id="t", graph="ada", speaker="Ada", text="Nothing of the kind.")
    assert redact_message(plain) is plain


@given(st.binary(max_size=200))
def test_bytes_that_are_no_text_stay_as_they_are(raw: bytes) -> None:
    assert redact_bytes(b"\xff" + raw.replace(b"<", b"")) == b"\xff" + raw.replace(b"<", b"")


@given(st.text(max_size=300))
def test_any_text_is_redacted_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)
