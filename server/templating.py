"""Templates made into pages: in the reader's language, below the server's root, with a cookie for who has none."""

import json
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.templating import Jinja2Templates
from markupsafe import Markup

from server.clients import new_cookie
from server.language.scenarios import LANGUAGES
from server.services import get_services

ROOT = Path(__file__).parent.parent
templates = Jinja2Templates(directory=ROOT / "templates")
MESSAGES = {
    language: json.loads((ROOT / "static/locales" / f"{language}.json").read_text("utf-8")) for language in LANGUAGES
}


def json_island(text: str) -> Markup:
    """JSON as the content of a script element: nothing in it can end the element or begin another."""
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


templates.env.filters["json_island"] = json_island


def request_language(request: Request) -> str:
    """The one asked for, else the first of the browser's that we have."""
    asked = request.query_params.get("lang")
    if asked in LANGUAGES:
        return asked
    for choice in request.headers.get("accept-language", "").split(","):
        known = choice.split(";")[0].strip()[:2].lower()
        if known in LANGUAGES:
            return known
    return LANGUAGES[0]


def render_public(request: Request, name: str, lang: str, **values: Any) -> Response:
    """A page that is the same for everybody."""
    given = {"lang": lang, "say": MESSAGES[lang], "nonce": request.state.nonce, "root": request.scope["root_path"]}
    return templates.TemplateResponse(request, name, {**given, **values})


def render(request: Request, name: str, **values: Any) -> Response:
    """A page of one visitor, in a language that the browser knows."""
    answer = render_public(request, name, request_language(request), **values)
    answer.headers["Vary"] = "Accept-Language, HX-Request"
    services = get_services(request.scope)
    cookie = new_cookie(request.scope, services.cookie_key, services.proxies)
    if cookie is not None:
        answer.headers["Set-Cookie"] = cookie
        answer.headers["Cache-Control"] = "private, no-store"  # of one visitor, and no proxy's to keep
    return answer


def render_partial(name: str, lang: str) -> str:
    """A partial by itself."""
    return templates.get_template(name).render(lang=lang, say=MESSAGES[lang])
