"""The forms of keys whose issuers give them a prefix.

Prefixes and lengths are those that issuers document, as the projects gitleaks and detect-secrets collect them (November 2026).
"""

from collections.abc import Iterator
from typing import NamedTuple

from jobs.engines.text.linear import Compiled, compiled
from jobs.pii_redact.surroundings import joins

_ALPHABETS = {
    "alnum": compiled("[0-9A-Za-z]*"),
    "upper": compiled("[0-9A-Z]*"),
    "hex": compiled("[0-9A-Fa-f]*"),
    "word": compiled("[0-9A-Za-z_-]*"),
    "dots": compiled("[0-9A-Za-z_.=~-]*"),
    "base64": compiled("[0-9A-Za-z+/]*={0,3}"),
    "path": compiled("[0-9A-Za-z/_-]*"),
    "parts": compiled("[0-9A-Z-]*"),
}
_TABLE = """
    # AWS, Google, Alibaba, Yandex
    AKIA ASIA AGPA AIDA AROA AIPA ANPA ANVA ABIA ACCA   upper 16 16
    A3T                                         upper 17 17
    ABSK                                        base64 100 280
    AIza                                        word 35 35
    GOCSPX-                                     word 28 28
    ya29.                                       dots 20 512
    LTAI                                        alnum 20 20
    AQVN                                        word 35 38
    # DigitalOcean, Heroku, Scalingo, Fly, Netlify, Supabase, PlanetScale, Databricks, Vault, Pulumi, Doppler
    doo_v1_ dop_v1_ dor_v1_                     hex 64 64
    HRKU-AA                                     word 58 58
    tk-us-                                      word 48 48
    fo1_                                        word 43 43
    fm1a_ fm1r_ fm2_                            base64 100 512
    nfp_                                        alnum 36 40
    sbp_                                        hex 40 40
    sb_secret_                                  word 30 60
    pscale_tkn_ pscale_pw_ pscale_oauth_        dots 32 64
    dapi                                        hex 32 32
    hvs. hvb.                                   word 24 300
    pul-                                        hex 40 40
    dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.  dots 40 64
    # OpenAI, Anthropic, OpenRouter, xAI, Hugging Face, Groq, Perplexity, Replicate, Tavily, LangSmith
    sk-proj- sk-svcacct- sk-admin- sk-None-     word 40 250
    sk-ant-                                     word 30 250
    sk-or-v1-                                   hex 64 64
    sk-                                         alnum 32 64
    xai-                                        alnum 60 100
    hf_ api_org_                                alnum 34 40
    gsk_                                        alnum 48 56
    pplx-                                       alnum 48 56
    r8_                                         alnum 37 40
    tvly- tvly-dev-                             alnum 32 32
    lsv2_pt_ lsv2_sk_                           word 43 43
    # GitHub, GitLab, Atlassian, Sourcegraph
    ghp_ gho_ ghu_ ghs_ ghr_                    alnum 36 255
    github_pat_                                 word 82 82
    glpat- glptt- gldt- glrt- glcbt- glffct- glft- glimt- glagent- gloas- glsoat-   dots 20 300
    GR1348941                                   word 20 20
    ATATT3 ATCTT3                               dots 150 250
    ATBB                                        alnum 32 32
    sgp_                                        word 40 58
    # npm, PyPI, RubyGems, NuGet, Clojars, Docker, JFrog
    npm_                                        alnum 36 36
    pypi-AgE                                    word 50 300
    rubygems_                                   hex 48 48
    oy2                                         alnum 43 43
    CLOJARS_                                    alnum 60 60
    dckr_pat_ dckr_oat_                         word 27 64
    AKCp                                        alnum 69 69
    cmVmd                                       alnum 59 59
    # Stripe, Square, Razorpay, Shopify, Shippo, Flutterwave, EasyPost, Duffel
    sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_test_ pk_prod_    alnum 16 247
    whsec_                                      base64 24 131
    sq0atp- sq0csp- sq0idp-                     word 22 60
    EAAA                                        word 56 64
    rzp_live_ rzp_test_                         alnum 14 14
    shpat_ shpca_ shppa_ shpss_                 hex 32 32
    shippo_live_ shippo_test_                   hex 40 40
    FLWSECK- FLWSECK_TEST-                      word 12 40
    EZAK EZTK                                   alnum 54 54
    duffel_live_ duffel_test_                   dots 43 43
    # Slack, Discord, SendGrid, Mailgun, Brevo, Twilio, Meta
    xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp-   word 10 300
    xapp-                                       word 50 200
    https://hooks.slack.com/services/ https://hooks.slack.com/workflows/ https://hooks.slack.com/triggers/  path 20 128
    https://discord.com/api/webhooks/ https://discordapp.com/api/webhooks/  path 70 100
    SG.                                         dots 60 76
    key- pubkey-                                hex 32 32
    xkeysib- xsmtpsib-                          word 81 81
    SK                                          hex 32 32
    EAA                                         alnum 90 400
    # Grafana, Dynatrace, Sentry, New Relic, PostHog, Linear, Notion, Figma, Postman, Typeform, Prefect, ReadMe, Frame.io
    glc_                                        base64 32 400
    glsa_                                       word 41 41
    dt0c01. dt0s01. dt0s16.                     dots 89 89
    sntrys_                                     dots 60 500
    sntryu_                                     hex 64 64
    NRAK- NRAA- NRJS- NRII- NRRA-               word 19 40
    phc_ phx_                                   alnum 43 43
    lin_api_ lin_oauth_                         alnum 32 64
    ntn_                                        alnum 46 46
    secret_                                     alnum 43 43
    figd_                                       word 40 40
    PMAK-                                       word 59 59
    tfp_                                        dots 40 64
    pnu_                                        alnum 36 36
    rdme_                                       alnum 70 70
    fio-u-                                      dots 64 64
    # age, 1Password, Adobe
    AGE-SECRET-KEY-1                            upper 58 58
    A3-                                         parts 30 36
    ops_eyJ                                     base64 200 2000
    p8e-                                        alnum 32 32
"""
_OTHERS = compiled(
    r"[0-9A-Za-z_~.]{3}[0-9]Q~[0-9A-Za-z_~.-]{31,34}"  # Microsoft Entra
    r"|[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z=_-]{60,70}"  # Terraform
    r"|[0-9]{8,10}:AA[0-9A-Za-z_-]{33}"  # Telegram
    r"|[0-9a-f]{32}-us[0-9]{1,2}"  # Mailchimp
)
"""Keys whose fixed part is not at their start."""
_PARTS = ("Q~", ".atlasv1.", ":AA", "-us")
"""The fixed part of each."""
_MORE = frozenset("_-")


class Form(NamedTuple):
    """What follows a prefix: characters of an alphabet, and how many."""

    alphabet: Compiled
    shortest: int
    longest: int


def _rows() -> Iterator[tuple[str, Form]]:
    """Each prefix of the table, with the alphabet and the smallest and largest number of characters after it."""
    for line in _TABLE.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            *prefixes, alphabet, shortest, longest = line.split()
            for prefix in prefixes:
                yield prefix, Form(_ALPHABETS[alphabet], int(shortest), int(longest))


FORMS = dict(_rows())
"""The form of the keys with each prefix."""
_PREFIXES = compiled(
    r"(?:^|[^0-9A-Za-z_-]|\\[nrt])("
    + "|".join(prefix.replace(".", r"\.") for prefix in sorted(FORMS, key=len, reverse=True))
    + ")"
)


def find(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of the keys of a text."""
    for match in _PREFIXES.finditer(text):
        start, tail = match.start(1), match.end(1)
        form = FORMS[match[1] or ""]
        rest = form.alphabet.match(text[tail : tail + form.longest + 1])
        end = tail + len((rest[0] or "").rstrip(".")) if rest else tail
        if form.shortest <= end - tail <= form.longest and not _continues(text[end : end + 1]):
            yield start, end
    for match in _OTHERS.finditer(text) if any(part in text for part in _PARTS) else ():
        before = text[match.start() - 1 : match.start()]
        if not (_continues(before) or _continues(text[match.end() : match.end() + 1])):
            yield match.start(), match.end()


def _continues(char: str) -> bool:
    """Whether a character beside a key would be a part of it."""
    return joins(char) or char in _MORE
