"""Replace secrets in texts before they are stored: keys, tokens, passwords, and what you mark as private.

    "the key is sk-ant-api03-…"               "the key is [secret: anthropic key]"
    "meet me <private>at Lena's</private>"    "meet me [secret: private]"

A log is permanent, so a secret must not reach it.  The client replaces secrets before it sends a message, and the
owner of a partition before it records one: what another program wrote is covered, too.  Forms are from the issuers'
documentation; a password has no form, so it is recognised by the word before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple, Protocol, Self, TypeVar

_WORD = r"(?<![A-Za-z0-9_\-])"  # a token begins here
_END = r"(?![A-Za-z0-9_\-])"
_QUOTE = r"\\?['\"`]"  # escaped in JSON that is quoted itself
_SAYS = r"\b(?:is|are|lautet|ist|es|est|è)\b|是|为|は|는|은"
_IS = rf"(?:{_QUOTE}\]?)?\s*(?:[:=：]|:=|=>|{_SAYS})\s*(?:{_QUOTE})?"
_LOGIN_WORDS = (
    r"(?i:password|passwort|passwd|passphrase|contraseña|mot de passe|\bpwd\b|\bpw\b|密码|口令|パスワード|비밀번호)"
    r"(?![\w\-]*(?i:hash|field|input|confirm|valid|reset|form|label|error|column|length|policy|strength|manager))"
    r"[\w\-]{0,20}?"
)
# code that computes a value, and no value: data["password"], hash_password(text), process.env.TOKEN, string
_CODE = (
    r"(?![A-Za-z_$][\w.$]*[(\[]|(?:os\.environ|process\.env|import\.meta|config|settings|self|this|env|secrets|vars)\.|"
    r"\$[A-Za-z{(]|\{|<[A-Za-z]|(?i:str|string|bytes|text|none|null|true|false|undefined|optional|required)\b|"
    r"[A-Za-z_]*(?i:passw|pwd)[A-Za-z_]*(?![\w!@#$%^&*+~\-]))"
)
_QUOTED = r"(?<=['\"`])(?P<secret>[^\n'\"`\\]{4,500})(?=\\?['\"`])"
_QUOTED_WORD = r"(?<=['\"`])(?P<secret>[^\s'\"`\\]{4,500})(?=\\?['\"`])"
_NAME_ENDS = r"(?:\\?['\"]\]?)?"
_ENDS = rf"(?:{_QUOTE}\]?)?"
_ENDS = r"'\"`,;<>()（），。；！？\\"
_WORD_OF_PASSWORD = rf"[^\s{_ENDS}]"
_NO_WORD = r"(?=[^\s'\"`,;]*[\d!@#$%^&*+=~_\-])"
_SETTINGS = r"password|passwd|passphrase|secret|token|api[_\-]?key|access[_\-]?key|secret[_\-]?key|private[_\-]?key"
_NAMES_OF_KEYS = (
    r"api.?key|secret.?key|access.?key|auth.?key|private.?key|access.?token|auth.?token|refresh.?token|api.?token|"
    r"bearer.?token|client.?secret|secret.?token|\bsecret|\btoken|密钥|令牌|licen[cs]e.?key|encryption.?key|signing.?key"
)
_NAMED = r"(?i:%s)[\w\-]{0,20}?" + _IS  # a name of a setting, and what comes before its value


class Copied(Protocol):
    """A message: it can be copied with other values."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Copy it."""


M = TypeVar("M", bound=Copied)


class SecretKind(NamedTuple):
    """A kind of secret.  If its expression has a group `secret`, only that part is replaced."""

    name: str
    expression: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled when a text is looked at: a hook that starts has no time for all of them."""
        return _compiled(self.expression)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _kind(name: str, pattern: str) -> SecretKind:
    return SecretKind(name, pattern)


def _token(name: str, pattern: str) -> SecretKind:
    return _kind(name, _WORD + pattern + _END)


def _named(name: str, words: str, value: str) -> SecretKind:
    """Build a kind without a form of its own: its issuer's name comes before it."""
    return _kind(name, rf"(?i:{words})[^\n]{{0,40}}?(?<![A-Za-z0-9_\-/+])(?P<secret>{value})(?![A-Za-z0-9_\-/+])")


KINDS = (
    _kind("private", r"(?is)<private>.*?(?:</private>|\Z)"),
    _kind(
        "private key",
        r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r".*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    _kind("private key", r"(?m)^Private-Lines: \d+\n(?P<secret>(?:[A-Za-z0-9+/=]{16,}\n?)+)"),  # PuTTY's
    _token("age key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _token("anthropic key", r"sk-ant-[A-Za-z0-9_\-]{20,}"),
    _token("openrouter key", r"sk-or-v1-[0-9a-f]{40,}"),
    _token("openai key", r"sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_\-]{20,}"),
    _token("stripe key", r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{10,}"),
    _token("stripe webhook secret", r"whsec_[A-Za-z0-9+/=]{20,}"),
    _token("aws access key", r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[A-Z0-9]{16}"),
    _named("aws secret key", r"aws|secret.?access.?key", r"[A-Za-z0-9/+]{40}"),
    _token("google api key", r"AIza[0-9A-Za-z_\-]{35}"),
    _token("google oauth secret", r"GOCSPX-[0-9A-Za-z_\-]{20,}"),
    _token("google oauth token", r"ya29\.[0-9A-Za-z_\-]{20,}"),
    _token("github token", r"(?:gh[opusr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    _token(
        "gitlab token",
        r"(?:gl(?:pat|ptt|dt|rt|cbt|agent|oas|ft|imt|soat)-[A-Za-z0-9_\-.]{20,}|GR1348941[A-Za-z0-9_\-]{20,})",
    ),
    _token("slack token", r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9\-]{10,}"),
    _kind("slack webhook", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_\-]{20,}"),
    _kind("discord webhook", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_\-]{20,}"),
    _kind("teams webhook", r"https://[a-z0-9.\-]+\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/\-]{40,}"),
    _token(
        "discord token",
        r"(?:mfa\.[A-Za-z0-9_\-]{80,}|[MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6,7}\.[A-Za-z0-9_\-]{27,})",
    ),
    _token("telegram token", r"\d{8,10}:[A-Za-z0-9_\-]{35}"),
    _token("jwt", r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{4,}\.?[A-Za-z0-9_\-]*"),
    _token("mapbox token", r"sk\.eyJ[A-Za-z0-9_\-]{20,}\.[A-Za-z0-9_\-]{16,}"),
    _token("twitch token", r"oauth:[a-z0-9]{30}"),
    _token("npm token", r"npm_[A-Za-z0-9]{36}"),
    _kind("npm token", r"_authToken\s*=\s*(?P<secret>[A-Za-z0-9_\-+/=.]{16,})"),
    _token("pypi token", r"pypi-[A-Za-z0-9_\-]{50,}"),
    _token("rubygems key", r"rubygems_[0-9a-f]{48}"),
    _token("docker token", r"dckr_(?:pat|oat)_[A-Za-z0-9_\-]{20,}"),
    _token("hugging face token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _token("groq key", r"gsk_[A-Za-z0-9]{40,}"),
    _token("replicate token", r"r8_[A-Za-z0-9]{30,}"),
    _token("perplexity key", r"pplx-[A-Za-z0-9]{40,}"),
    _token("xai key", r"xai-[A-Za-z0-9]{40,}"),
    _token("sendgrid key", r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"),
    _token("mailchimp key", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    _token("mailgun key", r"(?:key|pubkey)-[0-9a-f]{32}"),
    _token("twilio key", r"(?:SK|AC)(?=[a-z]*\d)[0-9a-z]{32}"),
    _token("square token", r"(?:sq0[a-z]{3}-[0-9A-Za-z_\-]{22,}|EAAA[A-Za-z0-9_\-]{56,})"),
    _token("shopify token", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    _token("facebook token", r"EAA[A-Z][A-Za-z0-9]{60,}"),
    _token("digitalocean token", r"do[opr]_v1_[0-9a-f]{64}"),
    _token("databricks token", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _token("atlassian token", r"AT(?:ATT|CTT)3[A-Za-z0-9_\-=]{50,}"),
    _token("notion token", r"(?:secret_[A-Za-z0-9]{40,}|ntn_[A-Za-z0-9]{40,})"),
    _token("linear key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _token("postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("figma token", r"fig[dou]_[A-Za-z0-9_\-]{30,}"),
    _token("new relic key", r"NR(?:AK|JS|II|RA)-[A-Za-z0-9_\-]{19,}"),
    _token("grafana token", r"(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    _token("sentry token", r"sntry[su]_[A-Za-z0-9+/=_\-]{40,}"),
    _token("vault token", r"(?:hv[sbr]\.[A-Za-z0-9_\-]{24,}|[sb]\.[A-Za-z0-9]{24})"),
    _token("terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-]{60,}"),
    _token("pulumi token", r"pul-[0-9a-f]{40}"),
    _token("doppler token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.\-]{40,}"),
    _token("planetscale password", r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.\-]{32,}"),
    _token("supabase key", r"sb(?:p|_secret)_[A-Za-z0-9_\-]{20,}"),
    _token("dropbox token", r"sl\.[A-Za-z0-9_\-]{100,}"),
    _token("artifactory key", r"(?:(?:AKC|AP[0-9A-F])(?=[A-Za-z]*\d)[A-Za-z0-9]{10,}|cmVmd[A-Za-z0-9]{59,})"),
    _token("airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _token("adobe secret", r"p8e-[A-Za-z0-9]{32}"),
    _token("alibaba access key", r"LTAI[A-Za-z0-9]{16,26}"),
    _token("tencent secret id", r"AKID[A-Za-z0-9]{28,36}"),
    _kind("azure storage key", r"(?i:AccountKey|SharedAccessKey)\s*=\s*(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    _kind("azure signature", r"(?<=[?&])sig=(?P<secret>[A-Za-z0-9%+/=]{30,})"),
    _named("azure secret", r"azure|client.?secret", r"[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}"),
    _named("heroku key", r"heroku", r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
    _named("cloudflare key", r"cloudflare|cf.?api", r"[A-Za-z0-9_\-]{37,45}"),
    _named("ibm cloud key", r"ibm|bluemix|softlayer|cloudant|iam", r"[A-Za-z0-9_\-]{44}|[0-9a-f]{64}|[0-9a-f]{48}"),
    _named("datadog key", r"datadog|\bdd.?(?:api|app)", r"[0-9a-f]{32,40}"),
    _named("deepseek key", r"deepseek|dashscope|zhipu|moonshot|qwen", r"[A-Za-z0-9.\-]{32,}"),
    _kind(
        "basic auth", r"[A-Za-z][A-Za-z0-9+.\-]{1,20}://[^\s/:@'\"<>]{0,100}:(?P<secret>[^\s/@'\"<>]{2,200})@(?=[\w\[])"
    ),
    _kind("basic auth", r"(?<=://)(?P<secret>(?=[A-Za-z]*\d)[A-Za-z0-9_\-]{20,})@(?=[\w\[])"),
    _kind("basic auth", r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]['\"]?[^\s:'\"]+:(?P<secret>[^\s'\"]{2,200})"),
    _kind(
        "cookie", r"(?i)\bcookie['\"]?\s*:\s*['\"]?(?P<secret>[\w.\-]+=[^\s;'\",]+(?:;\s*[\w.\-]+(?:=[^\s;'\",]*)?)*)"
    ),
    _kind(
        "authorization header",
        r"(?i)authorization['\"]?\s*[:=]\s*['\"]?(?:basic|bearer|token|api-?key|digest|negotiate)\s+(?P<secret>[A-Za-z0-9+/=._~\-]{8,})",
    ),
    _kind("bearer token", r"(?i)\bbearer\s+(?P<secret>(?=[A-Za-z0-9+/=._~\-]*\d)[A-Za-z0-9+/=._~\-]{20,})"),
    # in quotes, a sentence may name several words; after a colon, a password may be a word; elsewhere it is no word
    _kind("password", _LOGIN_WORDS + rf"{_NAME_ENDS}\s*(?:{_SAYS})\s*{_QUOTE}" + _QUOTED),
    _kind("password", r"(?i:passphrase)[\w\-]{0,20}?" + _IS + _QUOTED),
    _kind("password", _LOGIN_WORDS + _IS + _QUOTED_WORD),
    _kind(
        "password", rf"{_LOGIN_WORDS}{_NAME_ENDS}(?:[ \t]*[:：]|=)[ \t]*{_CODE}(?P<secret>{_WORD_OF_PASSWORD}{{4,100}})"
    ),
    _kind(
        "password",
        rf"{_LOGIN_WORDS}{_NAME_ENDS}[ \t]+:?=[ \t]*{_CODE}"
        rf"(?P<secret>(?=\S*[\d!@#$%^&*+~]){_WORD_OF_PASSWORD}{{4,100}})",
    ),
    _kind(
        "password",
        rf"{_LOGIN_WORDS}(?:\s\w+){{0,5}}?{_IS}{_CODE}(?P<secret>{_NO_WORD}{_WORD_OF_PASSWORD}{{4,100}}[^\s.:{_ENDS}])",
    ),
    _kind("password", rf"(?i)\b[\w.\-]*[_\-.]pass\s*[:=]\s*{_QUOTE}?{_CODE}(?P<secret>[^\s'\"`,;]{{4,100}})"),
    _kind("password", r"(?i)\blogin\s+\S+\s+password\s+(?P<secret>\S{4,100})"),  # .netrc
    _kind("password", r"\bsshpass\s+-p\s*['\"]?(?P<secret>[^\s'\"]{4,100})"),
    _kind(
        "password",
        r"\b(?:docker|podman|buildah|helm registry|az acr)\s+login\b[^\n]*?\s-p[ =]['\"]?(?P<secret>[^\s'\"]{4,200})",
    ),
    _kind("password", r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]*?\s-p(?P<secret>[^\s\-][^\s]{3,100})"),
    _kind("password", r"\bPIN\b(?! code)" + _IS + r"(?P<secret>\d{4,8})\b"),
    _kind("password", rf"(?i)<([\w:.\-]*(?:{_SETTINGS}))>(?P<secret>[^<\n]{{4,500}})</\1>"),
    _kind(
        "password",
        rf"(?i)(?:name|key|id)\s*=\s*['\"][\w.\-]*(?:{_SETTINGS})['\"]\s+value\s*=\s*['\"](?P<secret>[^'\"\n]{{4,500}})",
    ),
    _kind("password", rf"(?i)(?<!\w)--?[\w\-]*(?:{_SETTINGS})(?:=|\s+)['\"]?(?P<secret>(?!-)[^\s'\"]{{4,500}})"),
    _kind("secret", _NAMED % _NAMES_OF_KEYS + r"(?=[^\n'\"`]*\d)(?=[^\s'\"`]{10})" + _QUOTED),
    _kind(
        "secret",
        _NAMED % _NAMES_OF_KEYS
        + _CODE
        + r"(?P<secret>(?=[A-Za-z+/=_.~!@#$%^&*\-]*\d)[A-Za-z0-9+/=_.~!@#$%^&*\-]{10,500})",
    ),
    # a variable of an environment: STRIPE_SECRET=…, os.environ["AZURE_PAT"] = "…"
    _kind(
        "secret",
        r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASS|PASSWD|PWD|PAT|CREDENTIALS?|AUTH)"
        rf"(?:{_QUOTE}\]?)?\s*[:=]\s*{_QUOTE}?{_CODE}(?P<secret>(?=[^\s'\"`]*\d)[^\s'\"`,;]{{12,500}})",
    ),
)
NAMES = tuple(dict.fromkeys(kind.name for kind in KINDS))
# Nearly every text has none of these words and no long word, and is not looked at further: a turn then costs 5 µs.
_WORDS = (
    "<private>", "private key", "://", "passw", "passphrase", "contraseña", "mot de passe", "pwd", "pw", "密码", "口令",
    "パスワード", "비밀번호", "secret", "token", "密钥", "令牌", "key", "bearer", "_pass", "-pass", ".pass", "cookie:",
    'cookie"', "curl ", "sshpass", " login", "mysql", "mariadb", " pin ", "pin:",
)  # fmt: skip
_LONG_WORD = re.compile(r"[A-Za-z0-9+/=_\-]{16}")
_MARK = re.compile(r"\[secret: [a-z ]+\]")
_TEXTS = ("text", "query", "caption", "uri")


def may_hold_secrets(text: str) -> bool:
    """Check cheaply whether a text may hold a secret."""
    lowered = text.lower()
    if any(word in lowered for word in _WORDS):
        return True
    return max(map(len, text.split()), default=0) >= 16 and _LONG_WORD.search(text) is not None


def redact(text: str) -> str:
    """Return `text` with each secret replaced by `[secret: KIND]`."""
    if not may_hold_secrets(text):
        return text
    for kind in KINDS:
        text = kind.pattern.sub(partial(_replaced, kind.name), text)
    return text


def _replaced(name: str, match: re.Match[str]) -> str:
    whole = match[0]
    if "secret" not in match.re.groupindex or match["secret"] is None:
        return f"[secret: {name}]"
    start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
    return whole if "[secret" in whole[start:end] else f"{whole[:start]}[secret: {name}]{whole[end:]}"


def count_redacted(text: str) -> int:
    """Count the secrets that were replaced in a text."""
    return len(_MARK.findall(text)) if "[secret: " in text else 0


def spans_of_secrets(text: str) -> list[tuple[int, int]]:
    """List where secrets begin and end, ascending, each with the words that betray it; those that overlap are one."""
    spans = list[tuple[int, int]]()
    matches = (kind.pattern.finditer(text) for kind in KINDS) if may_hold_secrets(text) else ()
    for first, last in sorted(match.span() for found in matches for match in found):
        if spans and first < spans[-1][1]:
            spans[-1] = spans[-1][0], max(last, spans[-1][1])
        else:
            spans.append((first, last))
    return spans


def secrets_of(text: str) -> Counter[str]:
    """Count the secrets of a text by kind."""
    return Counter(kind for kind, _ in find_secrets(text))


def find_secrets(text: str) -> list[tuple[str, int]]:
    """List the kind of each secret of a text, and the line on which it begins, counted from 1."""
    if not may_hold_secrets(text):
        return []
    unmarked = _MARK.sub("[replaced]", text)
    for kind in KINDS:
        unmarked = kind.pattern.sub(partial(_marked_in_place, kind.name), unmarked)
    return [(mark[0][9:-1], unmarked.count("\n", 0, mark.start()) + 1) for mark in _MARK.finditer(unmarked)]


def _marked_in_place(name: str, match: re.Match[str]) -> str:
    """Replace a secret, and keep its line breaks, so that all that follows keeps its line."""
    replaced = _replaced(name, match)
    return replaced + "\n" * (match[0].count("\n") - replaced.count("\n"))


def secrets_in_message(message: Copied) -> Counter[str]:
    """Count the secrets in the texts, captions and metadata of a message by kind."""
    counts: Counter[str] = Counter()
    for text in _texts_of(message):
        counts.update(secrets_of(text))
    return counts


def _texts_of(message: Copied) -> Iterator[str]:
    """Yield the texts of a message that `redact_message` changes."""
    metadata = getattr(message, "metadata", None)
    values = [getattr(message, name, None) for name in _TEXTS]
    yield from (each for each in [*values, *(metadata or {}).values()] if isinstance(each, str))
    for attachment in getattr(message, "attachments", None) or ():
        yield from _texts_of(attachment)


def redact_bytes(raw: bytes) -> bytes:
    """Return a record's value with its secrets replaced, whatever it holds."""
    text = raw.decode(errors="surrogateescape")
    return redact(text).encode(errors="surrogateescape")


def redact_message(message: M) -> M:
    """Return a message with the secrets of its texts, captions and metadata replaced.

    Ids and names stay as they are, because they are looked up by their bytes.
    """
    changed: dict[str, Any] = {}
    for name in _TEXTS:
        if isinstance(text := getattr(message, name, None), str) and (redacted := redact(text)) != text:
            changed[name] = redacted
    if isinstance(metadata := getattr(message, "metadata", None), dict):
        redacted_values = {name: redact(value) if isinstance(value, str) else value for name, value in metadata.items()}
        if redacted_values != metadata:
            changed["metadata"] = redacted_values
    if attachments := getattr(message, "attachments", None):
        changed["attachments"] = [redact_message(each) for each in attachments]
    return message.model_copy(update=changed) if changed else message
