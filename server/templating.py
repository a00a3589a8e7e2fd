"""Renders the templates, in the reader's language; gives each new visitor a cookie."""

import json
from typing import Any

from fastapi import Request, Response
from fastapi.templating import Jinja2Templates

from server import PROJECT_FOLDER
from server.gallery.scenarios import LANGUAGES
from server.http.documentation import is_documentation_built
from server.pool.interface import STARTING
from server.services import get_services
from server.visitors.clients import new_visitor_cookie_header

templates = Jinja2Templates(directory=PROJECT_FOLDER / "templates")


def read_messages(language: str) -> dict[str, str]:
    """The sentences of the pages: those that the page's scripts have too, those of templates alone, of matrix, builder,
    gallery, course and series.
    """
    folder = PROJECT_FOLDER / "static/locales"
    names = ("", "pages.", "matrix.", "builder.", "gallery.", "course.", "series.")
    parts = (folder / f"{name}{language}.json" for name in names)
    return {key: text for part in parts for key, text in json.loads(part.read_text("utf-8")).items()}


MESSAGES = {language: read_messages(language) for language in LANGUAGES}


def preloaded_chunks(*names: str) -> list[str]:
    """What the built scripts of these names import before they run, each once; nothing where the page is not built."""
    built = PROJECT_FOLDER / "static/dist/chunks.json"
    chunks: dict[str, list[str]] = json.loads(built.read_text("utf-8")) if built.exists() else {}
    return list(dict.fromkeys(chunk for name in names for chunk in chunks.get(name, [])))


def painted_program() -> dict[str, Any] | None:
    """The program that opens the page with its colours, as the build left them; None where the page is not built."""
    built = PROJECT_FOLDER / "static/dist/painted.json"
    painted: dict[str, Any] | None = json.loads(built.read_text("utf-8")) if built.exists() else None
    return painted


templates.env.globals["preloaded_chunks"] = preloaded_chunks
templates.env.globals["has_documentation"] = is_documentation_built
templates.env.globals["painted_program"] = painted_program


def compile_templates() -> None:
    """Compile all templates, which takes a tenth of a second: else the first visitor of each page would wait for it,
    and everybody with them."""
    for name in templates.env.list_templates():
        templates.env.get_template(name)


def request_language(request: Request) -> str:
    """The language of `?lang=`, else the first supported one of Accept-Language."""
    requested = request.query_params.get("lang")
    if requested in LANGUAGES:
        return requested
    for choice in request.headers.get("accept-language", "").split(","):
        code = choice.split(";")[0].strip()[:2].lower()
        if code in LANGUAGES:
            return code
    return LANGUAGES[0]


def is_fragment_request(request: Request) -> bool:
    """Whether htmx asks for the part of a page that changes."""
    return request.headers.get("hx-request") == "true"


def render_public_page(request: Request, name: str, lang: str, **values: Any) -> Response:
    """A page that is the same for all visitors, without a cookie."""
    context = {"lang": lang, "say": MESSAGES[lang], "nonce": request.state.nonce, "root": request.scope["root_path"]}
    return templates.TemplateResponse(request, name, {**context, **values})


def render_constant_page(request: Request, name: str, lang: str, **values: Any) -> bytes:
    """A page that is the same for all visitors and every time, as bytes; nothing in it may need a nonce."""
    context = {"request": request, "lang": lang, "say": MESSAGES[lang], "nonce": "", "root": request.scope["root_path"]}
    return templates.get_template(name).render(**context, **values).encode()


def for_language_and_session(response: Response, signed_in: bool) -> Response:
    """The response with headers that keep caches from giving it to readers of another language, or without the
    password."""
    response.headers["Vary"] = "Accept-Encoding, Accept-Language, Cookie, HX-Request"
    if signed_in:
        response.headers["Cache-Control"] = "private, no-store"
    return response


def render_visitor_page(request: Request, name: str, **values: Any) -> Response:
    """A page for one visitor, in the language of the request, with a cookie where the visitor has none."""
    answer = render_public_page(request, name, request_language(request), **values)
    answer.headers["Vary"] = "Accept-Language, HX-Request"
    services = get_services(request.scope)
    cookie = new_visitor_cookie_header(request.scope, services.visitors.cookie_key, services.visitors.proxies)
    if cookie is not None:
        answer.headers["Set-Cookie"] = cookie
        answer.headers["Cache-Control"] = "private, no-store"  # the cookie is this visitor's own
    return answer


def render_workbench_page(request: Request, **values: Any) -> Response:
    """The page of a program, which runs it where this server can run programs now.

    values: for its template
    """
    services = get_services(request.scope)
    pool = services.pool
    return render_visitor_page(
        request,
        "page.html",
        devices=pool.devices,
        live=services.settings.live_mode,
        runs_nothing=pool.unavailable_reason("cpu") not in ("", STARTING),
        **values,
    )


def render_partial(name: str, lang: str) -> str:
    """A partial as text."""
    return templates.get_template(name).render(lang=lang, say=MESSAGES[lang])
