"""Write the files of a secured test broker, whose listeners authenticate clients: `scripts/kafka start --secured`.

    SASL_PLAINTEXT   PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER (unsigned tokens: who says so, is)
    SASL_SSL         the same behind TLS
    SSL              TLS, and a certificate of the client's own

    security/ca.pem, other-ca.pem   the authority of the broker's certificate, and another one
    security/client.pem             key and certificate of a client, CN=client
    security/listeners.json         where each listens: {"SASL_SSL": "127.0.0.1:9095", …}

ACLs are in force: a client may do only what an ACL allows, except by the plain listener (`ANONYMOUS`) and as the user
`admin`.  The password of each user below is its name and "-secret".  openssl makes the certificates.
"""

import json
import subprocess
from pathlib import Path

LISTENERS = ("SASL_PLAINTEXT", "SASL_SSL", "SSL")
USERS = ("admin", "worker", "client")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SCRAM_USERS = tuple(
    argument
    for user in USERS
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
    for argument in ("--add-scram", f"{mechanism}=[name={user},password={user}-secret]")
)
SUBJECTS = {"broker": "localhost", "client": "client"}
LOGIN = "org.apache.kafka.common.security"


def secured(properties: str, folder: Path, ports: tuple[int, ...]) -> str:
    """Add the listeners to a broker's `properties`."""
    places = [f"{name}://127.0.0.1:{port}" for name, port in zip(LISTENERS, ports, strict=True)]
    lines = []
    for line in properties.splitlines():
        key = line.partition("=")[0]
        if key in ("listeners", "advertised.listeners"):
            line = ",".join((line, *places))  # noqa: PLW2901 - the same line, longer
        if key == "listener.security.protocol.map":
            line = ",".join((line, *(f"{name}:{name}" for name in LISTENERS)))  # noqa: PLW2901
        lines.append(line)
    users = " ".join(f'user_{user}="{user}-secret"' for user in USERS)
    for listener in ("sasl_plaintext", "sasl_ssl"):
        lines += [
            f"listener.name.{listener}.sasl.enabled.mechanisms={','.join(MECHANISMS)}",
            f"listener.name.{listener}.plain.sasl.jaas.config={LOGIN}.plain.PlainLoginModule required {users};",
            (
                f"listener.name.{listener}.oauthbearer.sasl.jaas.config={LOGIN}.oauthbearer.OAuthBearerLoginModule "
                'required unsecuredLoginStringClaim_sub="broker";'
            ),
        ]
        for scram in ("scram-sha-256", "scram-sha-512"):
            lines.append(f"listener.name.{listener}.{scram}.sasl.jaas.config={LOGIN}.scram.ScramLoginModule required;")
    lines += [
        "ssl.keystore.type=PEM",
        f"ssl.keystore.location={folder / 'broker.pem'}",
        "ssl.truststore.type=PEM",
        f"ssl.truststore.location={folder / 'ca.pem'}",
        "listener.name.ssl.ssl.client.auth=required",
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "ssl.principal.mapping.rules=RULE:^CN=(.*)$/$1/",
        "super.users=User:ANONYMOUS;User:admin",
    ]
    return "\n".join(lines) + "\n"


def make(folder: Path, ports: tuple[int, ...]) -> None:
    """Make the certificates, and write the addresses of the listeners."""
    folder.mkdir(parents=True, exist_ok=True)
    for authority in ("ca", "other-ca"):
        subject = ("-subj", f"/CN=emgas test {authority}", "-days", "30", "-nodes")
        _openssl(
            "req",
            "-x509",
            *_NEW_KEY,
            "-keyout",
            folder / f"{authority}.key",
            "-out",
            folder / f"{authority}.pem",
            *subject,
        )
    for name, common in SUBJECTS.items():
        _sign(folder, name, common)
    where = {name: f"127.0.0.1:{port}" for name, port in zip(LISTENERS, ports, strict=True)}
    (folder / "listeners.json").write_text(json.dumps(where))


_NEW_KEY = ("-newkey", "rsa:2048")


def _sign(folder: Path, name: str, common: str) -> None:
    key, request, signed = (folder / f"{name}.{kind}" for kind in ("key", "csr", "crt"))
    _openssl("req", "-new", *_NEW_KEY, "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={common}")
    extensions = folder / f"{name}.ext"
    extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    authority = ("-CA", folder / "ca.pem", "-CAkey", folder / "ca.key", "-CAcreateserial", "-days", "30")
    _openssl("x509", "-req", "-in", request, "-out", signed, *authority, "-extfile", extensions)
    (folder / f"{name}.pem").write_bytes(key.read_bytes() + signed.read_bytes())


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
