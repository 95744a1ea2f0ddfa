"""How many secrets are masked or left out: of samples in the formats that vendors document, and of whole files.

    python benchmarks/masks.py [SEED]

Every value is random and opens nothing. The formats are written down here a second time, from what vendors say of
them and not from the rules (``model/secret_rules.json``), so that a wrong rule shows. A sample is caught when its
secret part is not in the text that is read; a file when no reader of it gets any of its secrets.
"""

from __future__ import annotations

import base64
import json
import random
import string
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from findling import reading
from findling.model.marks import left_out_by_name
from findling.model.types import SkippedFile

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URL64 = f"{ALNUM}-_"
BASE64 = f"{ALNUM}+/"


class Dice(random.Random):
    """Random texts of an alphabet."""

    def of(self, alphabet: str, size: int) -> str:
        return "".join(self.choices(alphabet, k=size))

    def digits(self, size: int) -> str:
        return self.of(string.digits, size)

    def uuid(self) -> str:
        return "-".join(self.of(HEX, size) for size in (8, 4, 4, 4, 12))

    def base64(self, bytes_: int) -> str:
        return base64.b64encode(self.randbytes(bytes_)).decode()

    def url64(self, bytes_: int) -> str:
        return base64.urlsafe_b64encode(self.randbytes(bytes_)).decode().rstrip("=")

    def json64(self, **values: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")

    def password(self) -> str:
        """As a password manager makes them."""
        size = self.randint(12, 20)
        while True:
            made = self.of(f"{ALNUM}!@#%^*-_+", size)
            if all(any(char in kind for char in made) for kind in (string.ascii_lowercase, UPPER, string.digits)):
                return made


Made = Callable[[Dice], str]

TOKENS: dict[str, Made] = {
    # Prefixed: they are known wherever they stand.
    "AWS access key": lambda d: f"AKIA{d.of(string.ascii_uppercase + '234567', 16)}",
    "AWS temporary access key": lambda d: f"ASIA{d.of(string.ascii_uppercase + '234567', 16)}",
    "Alibaba AccessKey": lambda d: f"LTAI5t{d.of(ALNUM, 18)}",
    "Tencent SecretId": lambda d: f"AKID{d.of(ALNUM, 32)}",
    "Google API key": lambda d: f"AIzaSy{d.of(URL64, 33)}",
    "Google OAuth client secret": lambda d: f"GOCSPX-{d.of(URL64, 28)}",
    "Google access token": lambda d: f"ya29.a0{d.of(URL64, 160)}",
    "Google refresh token": lambda d: f"1//0{d.of(URL64, 60)}",
    "Azure client secret": lambda d: f"{d.of(ALNUM, 3)}8Q~{d.of(ALNUM + '-_~.', 34)}",
    "DigitalOcean token": lambda d: f"dop_v1_{d.of(HEX, 64)}",
    "Heroku key": lambda d: f"HRKU-{d.of(URL64, 60)}",
    "Fly token": lambda d: f"fo1_{d.of(URL64, 43)}",
    "Netlify token": lambda d: f"nfp_{d.of(ALNUM, 36)}",
    "Render key": lambda d: f"rnd_{d.of(ALNUM, 32)}",
    "GitHub classic token": lambda d: f"ghp_{d.of(ALNUM, 36)}",
    "GitHub OAuth token": lambda d: f"gho_{d.of(ALNUM, 36)}",
    "GitHub app token": lambda d: f"ghs_{d.of(ALNUM, 36)}",
    "GitHub refresh token": lambda d: f"ghr_{d.of(ALNUM, 76)}",
    "GitHub fine-grained token": lambda d: f"github_pat_11{d.of(UPPER, 8)}0{d.of(ALNUM, 11)}_{d.of(ALNUM, 59)}",
    "GitLab personal token": lambda d: f"glpat-{d.of(URL64, 20)}",
    "GitLab deploy token": lambda d: f"gldt-{d.of(URL64, 20)}",
    "GitLab runner token": lambda d: f"glrt-{d.of(URL64, 20)}",
    "GitLab trigger token": lambda d: f"glptt-{d.of(HEX, 40)}",
    "Bitbucket app password": lambda d: f"ATBB{d.of(ALNUM, 32)}",
    "Atlassian token": lambda d: f"ATATT3xFfGF0{d.of(URL64, 170)}={d.of(UPPER, 8)}",
    "npm token": lambda d: f"npm_{d.of(ALNUM, 36)}",
    "PyPI token": lambda d: f"pypi-AgEIcHlwaS5vcmc{d.of(URL64, 150)}",
    "RubyGems key": lambda d: f"rubygems_{d.of(HEX, 48)}",
    "NuGet key": lambda d: f"oy2{d.of(LOWER, 43)}",
    "crates.io token": lambda d: f"cio{d.of(ALNUM, 32)}",
    "Docker token": lambda d: f"dckr_pat_{d.of(URL64, 27)}",
    "CircleCI token": lambda d: f"CCIPAT_{d.of(ALNUM, 22)}_{d.of(HEX, 40)}",
    "Buildkite token": lambda d: f"bkua_{d.of(HEX, 40)}",
    "SonarQube token": lambda d: f"sqp_{d.of(HEX, 40)}",
    "Terraform Cloud token": lambda d: f"{d.of(ALNUM, 14)}.atlasv1.{d.of(ALNUM, 67)}",
    "Pulumi token": lambda d: f"pul-{d.of(HEX, 40)}",
    "OpenAI project key": lambda d: f"sk-proj-{d.of(URL64, 74)}T3BlbkFJ{d.of(URL64, 74)}",
    "OpenAI older key": lambda d: f"sk-{d.of(ALNUM, 20)}T3BlbkFJ{d.of(ALNUM, 20)}",
    "Anthropic key": lambda d: f"sk-ant-api03-{d.of(URL64, 93)}AA",
    "OpenRouter key": lambda d: f"sk-or-v1-{d.of(HEX, 64)}",
    "DeepSeek key": lambda d: f"sk-{d.of(HEX, 32)}",
    "Hugging Face token": lambda d: f"hf_{d.of(string.ascii_letters, 34)}",
    "Replicate token": lambda d: f"r8_{d.of(ALNUM, 37)}",
    "Groq key": lambda d: f"gsk_{d.of(ALNUM, 52)}",
    "xAI key": lambda d: f"xai-{d.of(ALNUM, 80)}",
    "Perplexity key": lambda d: f"pplx-{d.of(ALNUM, 48)}",
    "LangSmith key": lambda d: f"lsv2_pt_{d.of(HEX, 32)}_{d.of(HEX, 10)}",
    "NVIDIA key": lambda d: f"nvapi-{d.of(URL64, 64)}",
    "Slack bot token": lambda d: f"xoxb-{d.digits(12)}-{d.digits(13)}-{d.of(ALNUM, 24)}",
    "Slack user token": lambda d: f"xoxp-{d.digits(12)}-{d.digits(12)}-{d.digits(13)}-{d.of(HEX, 32)}",
    "Slack app token": lambda d: f"xapp-1-A{d.of(UPPER, 10)}-{d.digits(13)}-{d.of(HEX, 64)}",
    "Slack webhook": lambda d: (
        f"https://hooks.slack.com/services/T{d.of(UPPER, 10)}/B{d.of(UPPER, 10)}/{d.of(ALNUM, 24)}"
    ),
    "Discord webhook": lambda d: f"https://discord.com/api/webhooks/{d.digits(19)}/{d.of(URL64, 68)}",
    "Telegram bot token": lambda d: f"{d.digits(10)}:AA{d.of(URL64, 33)}",
    "SendGrid key": lambda d: f"SG.{d.of(URL64, 22)}.{d.of(URL64, 43)}",
    "Mailgun key": lambda d: f"key-{d.of(HEX, 32)}",
    "Brevo key": lambda d: f"xkeysib-{d.of(HEX, 64)}-{d.of(ALNUM, 16)}",
    "Resend key": lambda d: f"re_{d.of(ALNUM, 8)}_{d.of(ALNUM, 24)}",
    "Twilio API key": lambda d: f"SK{d.of(HEX, 32)}",
    "Stripe live key": lambda d: f"sk_live_51{d.of(ALNUM, 97)}",
    "Stripe restricted key": lambda d: f"rk_live_{d.of(ALNUM, 24)}",
    "Stripe webhook secret": lambda d: f"whsec_{d.of(ALNUM, 32)}",
    "Square token": lambda d: f"sq0atp-{d.of(URL64, 22)}",
    "Square production token": lambda d: f"EAAA{d.of(URL64, 60)}",
    "Braintree token": lambda d: f"access_token$production${d.of(LOWER, 16)}${d.of(HEX, 32)}",
    "Shopify token": lambda d: f"shpat_{d.of(HEX, 32)}",
    "Plaid token": lambda d: f"access-production-{d.uuid()}",
    "EasyPost key": lambda d: f"EZAK{d.of(ALNUM, 54)}",
    "Shippo token": lambda d: f"shippo_live_{d.of(HEX, 40)}",
    "Facebook token": lambda d: f"EAAC{d.of(ALNUM, 180)}",
    "Databricks token": lambda d: f"dapi{d.of(HEX, 32)}",
    "Supabase token": lambda d: f"sbp_{d.of(HEX, 40)}",
    "PlanetScale password": lambda d: f"pscale_pw_{d.of(URL64, 43)}",
    "Doppler token": lambda d: f"dp.pt.{d.of(ALNUM, 43)}",
    "Vault token": lambda d: f"hvs.{d.of(URL64, 96)}",
    "1Password key": lambda d: "-".join(("A3", *(d.of(UPPER, size) for size in (6, 6, 5, 5, 5, 5)))),
    "age key": lambda d: f"AGE-SECRET-KEY-1{d.of('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}",
    "Tailscale key": lambda d: f"tskey-auth-k{d.of(ALNUM, 11)}CNTRL-{d.of(ALNUM, 32)}",
    "Grafana cloud token": lambda d: f"glc_{d.json64(o=d.digits(6), n='stack', k=d.of(ALNUM, 32))}",
    "Grafana service token": lambda d: f"glsa_{d.of(ALNUM, 32)}_{d.of(HEX, 8)}",
    "New Relic key": lambda d: f"NRAK-{d.of(UPPER, 27)}",
    "Sentry token": lambda d: f"sntryu_{d.of(HEX, 64)}",
    "Dynatrace token": lambda d: f"dt0c01.{d.of(UPPER, 24)}.{d.of(UPPER, 64)}",
    "Postman key": lambda d: f"PMAK-{d.of(HEX, 24)}-{d.of(HEX, 34)}",
    "Linear key": lambda d: f"lin_api_{d.of(ALNUM, 40)}",
    "Notion token": lambda d: f"ntn_{d.digits(11)}{d.of(ALNUM, 35)}",
    "Figma token": lambda d: f"figd_{d.of(URL64, 40)}",
    "Airtable token": lambda d: f"pat{d.of(ALNUM, 14)}.{d.of(HEX, 64)}",
    "Asana token": lambda d: f"1/{d.digits(16)}:{d.of(HEX, 32)}",
    "Azure DevOps token": lambda d: f"{d.of(ALNUM, 76)}AZDO{d.of(ALNUM, 4)}",
    "Azure function key": lambda d: f"https://f.azurewebsites.net/api/run?code={d.url64(40)}==",
    "Dropbox token": lambda d: f"sl.u.{d.of(URL64, 130)}",
    "Doppler service token": lambda d: f"dp.st.prd.{d.of(ALNUM, 43)}",
    "ElevenLabs key": lambda d: f"sk_{d.of(HEX, 48)}",
    "Voyage key": lambda d: f"pa-{d.of(URL64, 43)}",
    "Jina key": lambda d: f"jina_{d.of(HEX, 32)}{d.of(URL64, 28)}",
    "Langfuse key": lambda d: f"sk-lf-{d.uuid()}",
    "Cerebras key": lambda d: f"csk-{d.of(LOWER, 48)}",
    "Firecrawl key": lambda d: f"fc-{d.of(HEX, 32)}",
    "E2B key": lambda d: f"e2b_{d.of(HEX, 40)}",
    "Discord bot token": lambda d: (
        f"{base64.b64encode(d.digits(18).encode()).decode()}.G{d.of(ALNUM, 5)}.{d.of(URL64, 38)}"
    ),
    "Mailchimp key": lambda d: f"{d.of(HEX, 32)}-us{d.randint(1, 21)}",
    "PubNub key": lambda d: f"sec-c-{base64.b64encode(d.uuid().encode()).decode()}",
    "Paddle key": lambda d: f"pdl_live_apikey_01{d.of(LOWER, 24)}_{d.of(ALNUM, 22)}_{d.of(ALNUM, 3)}",
    "PostHog key": lambda d: f"phx_{d.of(ALNUM, 43)}",
    "HubSpot token": lambda d: f"pat-na1-{d.uuid()}",
    "Trello token": lambda d: f"ATTA{d.of(HEX, 64)}{d.of(HEX.upper(), 8)}",
    "ClickUp token": lambda d: f"pk_{d.digits(8)}_{d.of(UPPER, 32)}",
    "address with a token": lambda d: f"https://{d.of(ALNUM, 40)}@github.com",
    "encoded password": lambda d: (
        f"postgresql://app:{d.of(ALNUM, 6)}%40{d.of(ALNUM, 6)}%2F{d.of(ALNUM, 4)}@db.internal"
    ),
    "Contentful token": lambda d: f"CFPAT-{d.of(URL64, 43)}",
    "LaunchDarkly key": lambda d: (
        f"sdk-{d.of(HEX, 8)}-{d.of(HEX, 4)}-4{d.of(HEX, 3)}-{d.of('89ab', 1)}{d.of(HEX, 3)}-{d.of(HEX, 12)}"
    ),
    "JSON web token": lambda d: (
        f"{d.json64(alg='HS256', typ='JWT')}.{d.json64(sub=d.digits(10), iat=17)}.{d.url64(32)}"
    ),
}

NAMED: dict[str, tuple[str, Made]] = {
    # Without a prefix: only the name they are given says what they are.
    "AWS secret key": ("AWS_SECRET_ACCESS_KEY", lambda d: d.of(BASE64, 40)),
    "Azure storage key": ("AZURE_STORAGE_KEY", lambda d: d.base64(64)),
    "Cloudflare token": ("CLOUDFLARE_API_TOKEN", lambda d: d.of(URL64, 40)),
    "Cloudflare global key": ("CLOUDFLARE_API_KEY", lambda d: d.of(HEX, 37)),
    "Datadog key": ("DD_API_KEY", lambda d: d.of(HEX, 32)),
    "Twilio auth token": ("TWILIO_AUTH_TOKEN", lambda d: d.of(HEX, 32)),
    "Algolia admin key": ("ALGOLIA_ADMIN_API_KEY", lambda d: d.of(HEX, 32)),
    "Scaleway key": ("SCW_SECRET_KEY", Dice.uuid),
    "Codecov token": ("CODECOV_TOKEN", Dice.uuid),
    "Postmark token": ("POSTMARK_SERVER_TOKEN", Dice.uuid),
    "Ghost key": ("GHOST_ADMIN_API_KEY", lambda d: f"{d.of(HEX, 24)}:{d.of(HEX, 64)}"),
    "Turnstile key": ("TURNSTILE_SECRET_KEY", lambda d: f"0x4AAAAAAA{d.of(URL64, 25)}"),
    "Fernet key": ("FERNET_KEY", lambda d: f"{d.url64(32)}="),
    "Hetzner token": ("HCLOUD_TOKEN", lambda d: d.of(ALNUM, 64)),
    "Vonage secret": ("VONAGE_API_SECRET", lambda d: d.of(ALNUM, 16)),
    "PayPal secret": ("PAYPAL_CLIENT_SECRET", lambda d: f"E{d.of(URL64, 79)}"),
    "Binance secret": ("BINANCE_API_SECRET", lambda d: d.of(ALNUM, 64)),
    "Segment key": ("SEGMENT_WRITE_KEY", lambda d: d.of(ALNUM, 32)),
    "Bitwarden token": ("BWS_ACCESS_TOKEN", lambda d: f"0.{d.uuid()}.{d.of(ALNUM, 30)}:{d.base64(16)}"),
    "Mistral key": ("MISTRAL_API_KEY", lambda d: d.of(ALNUM, 32)),
    "Cohere key": ("COHERE_API_KEY", lambda d: d.of(ALNUM, 40)),
    "Okta token": ("OKTA_API_TOKEN", lambda d: f"00{d.of(URL64, 40)}"),
    "Travis token": ("TRAVIS_TOKEN", lambda d: d.of(URL64, 22)),
    "Snyk token": ("SNYK_SECRET", lambda d: d.of(HEX, 40)),
    "Django secret key": ("SECRET_KEY", lambda d: d.of(f"{LOWER}!@#%^*-_=+", 50)),
    "Rails secret key base": ("SECRET_KEY_BASE", lambda d: d.of(HEX, 128)),
    "WireGuard key": ("PRIVATE_KEY", lambda d: d.base64(32)),
    "Session secret": ("SESSION_SECRET", lambda d: d.base64(33)),
    "Database password": ("DB_PASSWORD", Dice.password),
}

PLACES: tuple[str, ...] = (
    'const {lower} = "{value}";\n',
    "{name}={value}\n",
    "config:\n  {lower}: {value}\n",
    'client = Client({lower}="{value}")\n',
    '    {{\n        "{lower}": "{value}",\n    }}\n',
    "Then run `export {name}={value}` and start again.\n",
    "env:\n  - name: {name}\n    value: {value}\n",
    '{{"environment": [{{"name": "{name}", "value": "{value}"}}]}}\n',
    'var {lower} string = "{value}"\n',
    "ENV {name} {value}\n",
)
"""Where one finds them: code, settings, prose."""


class Sample(NamedTuple):
    """``format`` in a text; ``secret``: what must not be read."""

    format: str
    path: str
    text: str
    secret: str


def samples(seed: int, each: int = 3) -> Iterator[Sample]:
    """``each`` of every format, in as many different places."""
    dice = Dice(seed)
    formats = {name: (name.upper().replace(" ", "_"), made) for name, made in TOKENS.items()} | NAMED
    for format_, (name, made) in formats.items():
        bare = "VALUE" if format_ in TOKENS else name  # a token has to be known by itself
        for place in dice.sample(PLACES, each):
            value = made(dice)
            text = place.format(name=bare, lower=bare.lower(), value=value)
            yield Sample(format_, "notes.txt", text, value[-20:] if len(value) > 24 else value[-10:])


# --- whole files ----------------------------------------------------------------------------------------------


class Written(NamedTuple):
    """A file, and what of it must not be read."""

    path: str
    text: str
    secrets: tuple[str, ...]


def _pem(dice: Dice, label: str) -> tuple[str, str]:
    body = dice.base64(900)
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----")), lines[3]


def files(seed: int) -> list[Written]:
    """Files as people have them, each with its secrets."""
    dice = Dice(seed)
    found: list[Written] = []

    def add(path: str, text: str, *values: str) -> None:
        for at, value in enumerate(values):
            text = text.replace(f"<{at}>", value)
        found.append(Written(path, text, tuple(value[-12:] for value in values)))

    def token(name: str) -> str:
        return TOKENS[name](dice)

    def named(name: str) -> str:
        return NAMED[name][1](dice)

    password = dice.password
    pem, line = _pem(dice, "RSA PRIVATE KEY")
    other, other_line = _pem(dice, "PRIVATE KEY")
    code = "\n".join(f"def step_{number}(value):\n    return value + {number}\n" for number in range(60))
    prose = "Some words on how to set this up and what to look at first.\n" * 60
    add(".env", "DB_PASSWORD=<0>\n", password())
    add("deploy/prod.env", "STRIPE=<0>\n", token("Stripe live key"))
    add("config/terraform.tfvars", 'db_password = "<0>"\n', "correct horse battery")
    add("infra/terraform.tfstate.1699.backup", '{"outputs": {"pw": {"value": "<0>"}}}\n', "hunter2hunter2")
    add("kubeconfig.yaml", "users:\n- user:\n    client-key-data: <0>\n", dice.base64(600))
    add("ops/admin.kubeconfig", "users:\n- user:\n    token: <0>\n", token("JSON web token"))
    add("keys.txt", "# created: 2026-01-01\n<0>\n", token("age key"))
    found.append(Written("id_ed25519", other, (other_line,)))
    found.append(Written("certs/server.key", pem, (line,)))
    add(
        "src/aws.py",
        'import boto3\n\ns3 = boto3.client("s3", aws_access_key_id="<0>", aws_secret_access_key="<1>")\n',
        token("AWS access key"),
        named("AWS secret key"),
    )
    add("src/a.ts", 'export const token = "<0>";\n', token("GitHub classic token"))
    add("src/client.go", 'package x\n\nconst apiKey = "<0>"\n', token("OpenAI project key"))
    add("lib/slack.rb", 'SLACK = Slack::Client.new("<0>")\n', token("Slack bot token"))
    add("src/Main.java", 'class Main {\n  static final String KEY = "<0>";\n}\n', token("Google API key"))
    add("src/lib.rs", 'const HOOK: &str = "<0>";\n', token("Slack webhook"))
    add("bot/index.js", 'client.login("x"); // <0>\n', token("Telegram bot token"))
    add("app/Http.php", "<?php\n$auth = ['api_token' => '<0>'];\n", dice.of(ALNUM, 40))
    add(
        "wp-config.php",
        "<?php\ndefine('DB_PASSWORD', '<0>');\ndefine( 'AUTH_KEY', '<1>' );\n",
        password(),
        dice.of(f"{ALNUM}!@#%^*-_+~", 64),
    )
    add("settings.py", 'DEBUG = False\nSECRET_KEY = "<0>"\n', named("Django secret key"))
    add("config/database.yml", "production:\n  adapter: postgresql\n  password: <0>\n", password())
    add("config/secrets.yml", "production:\n  secret_key_base: <0>\n", named("Rails secret key base"))
    add("appsettings.json", '{"ConnectionStrings": {"Main": "Server=db;User Id=app;Password=<0>;"}}\n', password())
    add(
        "appsettings.Production.json",
        '{"Storage": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=<0>;x=y"}\n',
        dice.base64(64),
    )
    add("Web.config", '<add key="ApiKey" value="<0>" />\n', dice.of(ALNUM, 32))
    add("pom.xml", "<server><username>ci</username><password><0></password></server>\n", password())
    add("gradle.properties", "signing.password=<0>\nossrhToken=<1>\n", password(), dice.of(ALNUM, 32))
    add("application.properties", "spring.datasource.password=<0>\n", password())
    add("application.yml", "spring:\n  datasource:\n    password: '<0>'\n", password())
    add("docker-compose.yml", "services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: <0>\n", password())
    add("compose.yaml", "services:\n  a:\n    environment:\n      - API_TOKEN=<0>\n", dice.of(ALNUM, 40))
    add("Dockerfile", "FROM python\nENV NPM=<0>\n", token("npm token"))
    add(".github/workflows/ci.yml", "env:\n  TOKEN: <0>\n", token("GitHub fine-grained token"))
    add(".gitlab-ci.yml", "variables:\n  DEPLOY: <0>\n", token("GitLab personal token"))
    add("Jenkinsfile", "environment { SONAR = '<0>' }\n", token("SonarQube token"))
    add("k8s/secret.yaml", "kind: Secret\ndata:\n  password: <0>\n", base64.b64encode(password().encode()).decode())
    add("helm/values.yaml", "auth:\n  adminPassword: <0>\n", password())
    add("ansible/group_vars/all.yml", "vault_token: <0>\n", token("Vault token"))
    add(
        "main.tf",
        'provider "aws" {\n  access_key = "<0>"\n  secret_key = "<1>"\n}\n',
        token("AWS access key"),
        named("AWS secret key"),
    )
    add("variables.tf", 'variable "token" {\n  default = "<0>"\n}\n', token("DigitalOcean token"))
    add(".npmrc", "//registry.npmjs.org/:_authToken=<0>\n", token("npm token"))
    add(".pypirc", "[pypi]\nusername = __token__\npassword = <0>\n", token("PyPI token"))
    add("pip.conf", "[global]\nindex-url = https://ci:<0>@pypi.example.org/simple\n", dice.of(ALNUM, 20))
    add("nuget.config", '<add key="ClearTextPassword" value="<0>" />\n', password())
    add(".netrc", "machine example.org login a password <0>\n", password())
    add(".docker/config.json", '{"auths": {"r": {"auth": "<0>"}}}\n', dice.base64(24))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": ['openai.api_key = "<0>"\n']}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    add("notebook.ipynb", json.dumps(notebook), token("OpenAI older key"))
    found.append(Written("README.md", f"# Setup\n\n{prose}\n{pem}\n", (line,)))
    add(
        "docs/setup.md",
        f"{prose}\n    curl -H 'Authorization: Bearer <0>' https://api.example.org\n{prose}",
        dice.of(ALNUM, 40),
    )
    add("docs/webhook.rst", f"{prose}\n.. code::\n\n   <0>\n", token("Discord webhook"))
    found.append(Written("tests/test_tls.py", f'{code}\nKEY = """{pem}"""\n', (line,)))
    account = json.dumps({"type": "service_account", "private_key": other})
    found.append(Written("firebase/key.json", account, (other_line,)))
    add("client_secret_12.json", '{"installed": {"client_secret": "<0>"}}\n', token("Google OAuth client secret"))
    add("scripts/deploy.sh", "#!/bin/sh\nexport HEROKU_API_KEY=<0>\n", token("Heroku key"))
    add("scripts/dump.sh", "#!/bin/sh\npg_dump postgres://app:<0>@db.internal:5432/app\n", dice.of(ALNUM, 18))
    add("Procfile.dev", "web: REDIS_URL=redis://:<0>@cache:6379 bin/web\n", dice.of(HEX, 32))
    add("celery.py", 'broker = "amqp://worker:<0>@mq:5672//"\n', dice.of(ALNUM, 16))
    add("mail.py", 'sendgrid = "<0>"\n', token("SendGrid key"))
    add("pay.ts", 'const stripe = new Stripe("<0>");\n', token("Stripe restricted key"))
    add("hf.py", 'login("<0>")\n', token("Hugging Face token"))
    add("claude.ts", 'new Anthropic({ apiKey: "<0>" })\n', token("Anthropic key"))
    add("wg0.conf", "[Interface]\nPrivateKey = <0>\n", dice.base64(32))
    add("grafana.ini", "[security]\nadmin_password = <0>\n", password())
    add("my.ini", "[client]\npassword=<0>\n", password())
    add("prometheus.yml", "basic_auth:\n  username: a\n  password: <0>\n", password())
    add("Vagrantfile", 'config.token = "<0>"\n', token("Terraform Cloud token"))
    add("src/config.go", 'package x\n\nvar dbPass string = "<0>"\n', password())
    add("main.bicep", "param adminPassword string = '<0>'\n", password())
    add("parameters.json", '{"parameters": {"administratorLoginPassword": {"value": "<0>"}}}\n', password())
    add("cloudformation.yaml", "Parameters:\n  DBPassword:\n    Type: String\n    Default: <0>\n", password())
    add("appsettings.Staging.json", '{\n  "Jwt": {\n    "Key": "<0>"\n  }\n}\n', dice.of(ALNUM, 48))
    add("settings/base.py", 'SECRET_KEY = "django-insecure-<0>"\n', named("Django secret key"))
    add("mail/settings.py", 'EMAIL_HOST_PASSWORD = "<0>"\n', " ".join(dice.of(LOWER, 4) for _ in range(4)))
    add("scripts/copy.sh", '#!/bin/sh\nsshpass -p "<0>" scp a b:\n', password())
    add("scripts/login.ps1", '$pass = ConvertTo-SecureString "<0>" -AsPlainText -Force\n', password())
    add("ansible/host_vars/db.yml", "ansible_become_pass: <0>\n", password())
    add("build.gradle", "release {\n  storePassword '<0>'\n}\n", password())
    add("ios/Keys.plist", "<key>ApiSecret</key>\n<string><0></string>\n", dice.of(ALNUM, 40))
    add("sql/users.sql", "ALTER USER app IDENTIFIED BY '<0>';\n", password())
    add("docs/runbook.md", f"{prose}\nThe root password is `<0>`.\n", password())
    add("cassettes/call.yml", "headers:\n  Authorization:\n  - Bearer <0>\n", dice.of(ALNUM, 40))
    salt = dice.of(f'{ALNUM}!@#%^*()-_ []{{}}~`+=|:;<>,.?/"', 64)
    add("blog/wp-config.php", "<?php\ndefine('AUTH_KEY', 'x');\ndefine('NONCE_SALT', '<0>');\n", salt)
    add("src/Config.cs", 'class C { const string Conn = "Endpoint=sb://x/;SharedAccessKey=<0>"; }\n', dice.base64(32))
    add(
        "src/sas.js",
        'const url = "https://a.blob.core.windows.net/b?sv=2022&se=x&sig=<0>";\n',
        f"{dice.of(ALNUM, 43)}%3D",
    )
    return found


# --- what is read of them -------------------------------------------------------------------------------------


def read(path: str, text: str) -> str:
    """What findling reads of a file: nothing of one that it leaves out."""
    if left_out_by_name(path) is not None:
        return ""
    found = reading.admit(path, text.encode())
    return "" if isinstance(found, SkippedFile) else found.text


def main(seed: int) -> None:
    every = list(samples(seed))
    missed = [sample for sample in every if sample.secret in read(sample.path, sample.text)]
    written = files(seed)
    shown = [file for file in written if any(secret in read(file.path, file.text) for secret in file.secrets)]
    print("| what | tried | masked or left out |\n|---|--:|--:|")
    formats = len(TOKENS) + len(NAMED)
    print(f"| samples in {formats} documented formats | {len(every)} | {1 - len(missed) / len(every):.3f} |")
    print(f"| whole files | {len(written)} | {1 - len(shown) / len(written):.3f} |")
    for sample in missed:
        print(f"missed: {sample.format}: {sample.text.strip()!r}", file=sys.stderr)
    for file in shown:
        print(f"shown: {file.path}", file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
