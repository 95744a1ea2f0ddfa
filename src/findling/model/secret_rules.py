"""The shapes of tokens that vendors document: how each begins, and what follows. Pure data, for `secrets`.

A beginning is kept where a token is masked, since it says whose it is; what follows is what is secret. Only what
grants access stands here: public identifiers and publishable keys do not. Some shapes are those of gitleaks' rules
(github.com/gitleaks/gitleaks, MIT, Copyright (c) 2019 Zachary Rice); `benchmarks/gitleaks.py` compares with all.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Rule(NamedTuple):
    """``begins``: texts, one of which starts the token; ``rest``: an expression of what follows it. ``anywhere``: it is
    looked for as a text, because no long word begins where it does or behind it. ``before``: an expression of what
    stands before it, and is masked as well."""

    id: str
    begins: str
    rest: str
    anywhere: bool = False
    before: str = ""


_URL64 = r"[\w-]"
_HEX = r"[0-9a-f]"
_ALNUM = r"[A-Za-z0-9]"

RULES: Final = (
    # Clouds and hosting
    Rule("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}"),
    Rule("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{109,269}={0,2}"),
    Rule("alibaba-access-key", "LTAI", rf"{_ALNUM}{{20,24}}"),
    Rule("tencent-secret-id", "AKID", rf"{_ALNUM}{{32}}"),
    Rule("google-api-key", "AIza", rf"{_URL64}{{35}}"),
    Rule("google-oauth-secret", "GOCSPX-", rf"{_URL64}{{28}}"),
    Rule("google-access-token", "ya29.", r"[\w-]{40,}"),
    Rule("google-refresh-token", "1//", rf"0{_URL64}{{40,}}"),
    Rule("azure-sas-signature", "sig=", r"[A-Za-z0-9%+/]{40,70}(?:%3[Dd]|=)", anywhere=True),
    Rule("azure-function-key", "?code= &code=", r"(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{50,58}={0,2}"),
    Rule("azure-client-secret", "Q~", r"[\w~.-]{31,34}", anywhere=True, before=r"[\w~.]{3}\d"),
    Rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{64}}"),
    Rule("heroku-key", "HRKU-", r"[\w-]{36,65}"),
    Rule("fly-token", "fm1r_ fm1a_ fm2_ fo1_", r"[\w+/=-]{40,}"),
    Rule("vercel-token", "vercel_blob_rw_ vcp_ vci_ vca_ vcr_ vck_", r"\w{24,}"),
    Rule("netlify-token", "nfp_ nfc_ nfo_ nfu_", rf"{_ALNUM}{{36,40}}"),
    Rule("render-key", "rnd_", rf"{_ALNUM}{{28,40}}"),
    Rule("cloudflare-origin-ca-key", "v1.", rf"0-{_HEX}{{24}}-{_HEX}{{146}}"),
    Rule("scalingo-token", "tk-us-", rf"{_URL64}{{48}}"),
    Rule("yandex-key", "AQVN", rf"{_URL64}{{35,38}}"),
    # Code hosts, registries, builds
    Rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{36,251}}"),
    Rule("github-fine-grained-token", "github_pat_", r"\w{82}"),
    Rule(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct- glwt-",
        r"[\w.-]{20,320}",
    ),
    Rule("gitlab-runner-token", "GR1348941", rf"{_URL64}{{20}}"),
    Rule("bitbucket-app-password", "ATBB", rf"{_ALNUM}{{32}}"),
    Rule("atlassian-token", "ATATT3 ATCTT3 ATSTT3", r"[\w=-]{150,220}"),
    Rule("npm-token", "npm_", rf"{_ALNUM}{{36}}"),
    Rule("pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", rf"{_URL64}{{50,}}"),
    Rule("rubygems-key", "rubygems_", rf"{_HEX}{{48}}"),
    Rule("nuget-key", "oy2", r"[a-z0-9]{43}"),
    Rule("crates-token", "cio", rf"{_ALNUM}{{32}}"),
    Rule("clojars-token", "CLOJARS_", r"[0-9a-z]{60}"),
    Rule("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{27,32}"),
    Rule("artifactory-key", "AKCp", rf"{_ALNUM}{{69}}"),
    Rule("artifactory-reference-token", "cmVmd", rf"{_ALNUM}{{59}}"),
    Rule("buildkite-token", "bkua_ bkct_", rf"{_HEX}{{40,64}}"),
    Rule("circleci-token", "CCIPAT_ CCIPRJ_", rf"{_ALNUM}{{22}}_{_HEX}{{40}}"),
    Rule("sonar-token", "sqp_ squ_ sqa_", rf"{_HEX}{{40}}"),
    Rule("harness-token", "pat. sat.", rf"{_URL64}{{22}}\.{_ALNUM}{{24}}\.{_ALNUM}{{20}}"),
    Rule("octopus-key", "API-", r"[A-Z0-9]{25,32}"),
    Rule("terraform-token", ".atlasv1.", r"[\w=-]{60,70}", before=r"\w{14}"),
    Rule("pulumi-token", "pul-", rf"{_HEX}{{40}}"),
    Rule("prefect-key", "pnu_", rf"{_ALNUM}{{36}}"),
    Rule("sourcegraph-token", "sgp_", r"(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}"),
    Rule("gitlab-session", "_gitlab_session=", r"[0-9a-z]{32}"),
    Rule("openshift-token", "sha256~", rf"{_URL64}{{43}}", anywhere=True),
    Rule("infracost-key", "ico-", rf"{_ALNUM}{{32}}"),
    # Models
    Rule("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{40,200}"),
    Rule("anthropic-key", "sk-ant-", r"[a-z]{3,5}[0-9]{2}-[\w-]{80,120}"),
    Rule("openrouter-key", "sk-or-v1-", rf"{_HEX}{{64}}"),
    Rule("secret-key", "sk-", rf"{_ALNUM}{{32,64}}"),
    Rule("huggingface-token", "hf_ api_org_", r"[A-Za-z]{34}"),
    Rule("replicate-token", "r8_", rf"{_ALNUM}{{37,40}}"),
    Rule("groq-key", "gsk_", rf"{_ALNUM}{{52}}"),
    Rule("xai-key", "xai-", rf"{_ALNUM}{{70,90}}"),
    Rule("perplexity-key", "pplx-", rf"{_ALNUM}{{40,60}}"),
    Rule("langsmith-key", "lsv2_pt_ lsv2_sk_", rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    Rule("nvidia-key", "nvapi-", rf"{_URL64}{{60,70}}"),
    Rule("pinecone-key", "pcsk_", r"\w{60,80}"),
    Rule("tavily-key", "tvly-", r"[\w-]{28,50}"),
    Rule("elevenlabs-key", "sk_", rf"{_HEX}{{48}}"),
    Rule("langfuse-key", "sk-lf-", r"[0-9a-f-]{36}"),
    Rule("cerebras-key", "csk-", r"[a-z0-9]{48}"),
    Rule("jina-key", "jina_", r"[\w-]{60}"),
    Rule("voyage-key", "pa- al-", r"(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{43}"),
    Rule("firecrawl-key", "fc-", rf"{_HEX}{{32}}"),
    Rule("e2b-key", "e2b_", rf"{_HEX}{{40}}"),
    Rule("apify-token", "apify_api_", rf"{_ALNUM}{{36}}"),
    # Messages and mail
    Rule("discord-bot-token", "MD MT Mj Mz ND NT Nj Nz OD OT", r"[A-Za-z0-9]{22,26}\.[\w-]{6}\.[\w-]{27,40}"),
    Rule("pubnub-key", "sec-c-", rf"{_ALNUM}{{36,64}}"),
    Rule("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd-", r"(?:\d{1,20}-){0,4}[\w%-]{20,300}"),
    Rule("slack-app-token", "xapp-", r"\d-[A-Z0-9]+-\d+-[a-z0-9]{32,}"),
    Rule("slack-rotating-token", "xoxe.", r"xox[bp]-\d-[\w]{100,}"),
    Rule("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/\w{6,14}/[\w/]{20,80}", anywhere=True),
    Rule("discord-webhook", "/api/webhooks/", r"\d{16,20}/[\w-]{60,72}", True),
    Rule("teams-webhook", "webhook.office.com/", r"webhookb2/[0-9a-f@-]{73}/IncomingWebhook/[0-9a-f]{32}/[\w-]+", True),
    Rule("telegram-bot-token", "AA", r"[\w-]{33}", before=r"\d{8,10}:"),
    Rule("sendgrid-key", "SG.", rf"{_URL64}{{22}}\.{_URL64}{{43}}"),
    Rule("mailgun-key", "key-", rf"{_HEX}{{32}}"),
    Rule("brevo-key", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    Rule("resend-key", "re_", rf"{_ALNUM}{{8}}_{_ALNUM}{{24}}"),
    Rule("twilio-key", "SK", r"[0-9a-fA-F]{32}"),
    # Payment and shops
    Rule("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", rf"{_ALNUM}{{16,250}}"),
    Rule("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    Rule("square-token", "sq0atp- sq0csp- sq0idp-", rf"{_URL64}{{22,43}}"),
    Rule("square-access-token", "EAAA", rf"{_URL64}{{60}}"),
    Rule("facebook-token", "EAAC EAAB EAAG EAAD EAAJ EAAM", rf"{_ALNUM}{{80,300}}"),
    Rule("braintree-token", "$", rf"{_HEX}{{32}}", before=r"access_token\$\w{7,11}\$[0-9a-z]{16}"),
    Rule("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    Rule("plaid-token", "access-sandbox- access-development- access-production-", rf"{_HEX}{{8}}-[0-9a-f-]{{27}}"),
    Rule("easypost-key", "EZAK EZTK", rf"{_ALNUM}{{54}}"),
    Rule("shippo-token", "shippo_live_ shippo_test_", r"[0-9a-fA-F]{40}"),
    Rule("duffel-token", "duffel_live_ duffel_test_", r"[\w=-]{43}"),
    Rule("flutterwave-key", "FLWSECK-", r"[0-9a-zA-Z]{12,40}-X"),
    Rule("flutterwave-test-key", "FLWSECK_TEST-", r"[0-9a-z]{12}(?:[0-9a-z]{20}-X)?"),
    Rule("facebook-app-token", "|", rf"{_URL64}{{27,40}}", before=r"\d{15,16}"),
    Rule("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", rf"{_ALNUM}{{16}}"),
    Rule("paddle-key", "pdl_live_apikey_ pdl_sdbx_apikey_", r"\w{40,60}"),
    # Data, secrets, networks
    Rule("databricks-token", "dapi", rf"{_HEX}{{32}}(?:-\d)?"),
    Rule("supabase-token", "sbp_ sb_secret_", r"[\w-]{31,48}"),
    Rule("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.-]{32,64}"),
    Rule("neon-key", "napi_", r"[a-z0-9]{60,70}"),
    Rule("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", rf"{_ALNUM}{{40,44}}"),
    Rule("doppler-service-token", ".", rf"{_ALNUM}{{40,44}}", before=r"dp\.s[at]\.[a-z0-9_-]{2,35}"),
    Rule("vault-token", "hvs. hvb. hvr.", r"[\w-]{24,300}"),
    Rule("onepassword-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    Rule("onepassword-token", "ops_eyJ", r"[A-Za-z0-9+/]{200,}={0,3}"),
    Rule("age-key", "AGE-SECRET-KEY-1", r"[02-9AC-HJ-NP-Z]{58}"),
    Rule("tailscale-key", "tskey-", r"[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}"),
    # Looking after programs
    Rule("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,400}={0,3}"),
    Rule("grafana-service-token", "glsa_", rf"{_ALNUM}{{32}}_[0-9a-fA-F]{{8}}"),
    Rule("newrelic-key", "NRAK- NRII- NRJS-", r"[\w-]{19,40}"),
    Rule("sentry-token", "sntrys_ sntryu_", r"[\w+/=]{60,400}"),
    Rule("dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", rf"{_ALNUM}{{8,24}}\.{_ALNUM}{{64}}"),
    Rule("grafana-key", "eyJrIjoi", rf"{_ALNUM}{{70,400}}={{0,3}}"),
    Rule("clickhouse-key", "4b1d", rf"{_ALNUM}{{38}}"),
    Rule("honeycomb-key", "hcaik_ hcbik_ hcxik_", r"[a-z0-9]{58}"),
    Rule("launchdarkly-key", "sdk-", rf"{_HEX}{{8}}-{_HEX}{{4}}-4{_HEX}{{3}}-[0-9a-f]{{4}}-{_HEX}{{12}}"),
    Rule("posthog-key", "phx_", rf"{_ALNUM}{{40,48}}"),
    # Work
    Rule("hubspot-token", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", r"[0-9a-f-]{36}"),
    Rule("trello-token", "ATTA", r"[0-9A-Fa-f]{72}"),
    Rule("clickup-token", "pk_", r"\d{6,12}_[A-Z0-9]{32}"),
    Rule("postman-key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    Rule("linear-key", "lin_api_ lin_oauth_", rf"{_ALNUM}{{40,64}}"),
    Rule("notion-token", "ntn_ secret_", rf"{_ALNUM}{{43,48}}"),
    Rule("figma-token", "figd_ figp_", rf"{_URL64}{{38,60}}"),
    Rule("airtable-token", ".", rf"{_HEX}{{64}}", before=rf"pat{_ALNUM}{{14}}"),
    Rule("asana-token", ":", rf"{_HEX}{{32}}", before=r"\d/\d{16}(?:/\d{16})?"),
    Rule("adobe-secret", "p8e-", rf"{_ALNUM}{{32}}"),
    Rule("frameio-token", "fio-u-", r"[\w=-]{64}"),
    Rule("intra42-secret", "s-s4t2ud- s-s4t2af-", rf"{_HEX}{{64}}"),
    Rule("twitter-bearer-token", "A" * 22, r"[A-Za-z0-9%]{80,100}"),
    Rule("contentful-token", "CFPAT-", rf"{_URL64}{{43}}"),
    Rule("typeform-token", "tfp_", r"[\w.=-]{40,62}"),
    Rule("readme-key", "rdme_", r"[a-z0-9]{60,72}"),
    Rule("dropbox-token", "sl. sl.u.", r"[\w-]{120,}"),
    # Whoever issued it
    Rule("json-web-token", "eyJ", r"[\w-]{12,}\.eyJ[\w-]{12,}\.[\w-]{16,}"),
    Rule("mapbox-token", "sk.", r"eyJ[\w-]{40,}\.[\w-]{20,}"),
)

WHOLE_WORDS: Final = {
    "azure-devops-token": (r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", (84,)),
    "azure-ai-key": (r"[A-Za-z0-9]{52}J(?:QQJ|ACO)99[A-Za-z0-9]{26,27}", (84, 85)),
    "mailchimp-key": (r"[0-9a-f]{32}-us\d{1,2}", (36, 37)),
}
"""Tokens that are one word and do not show by their beginning whose they are: expression, and sizes."""
