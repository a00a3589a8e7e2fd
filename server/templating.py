"""Renders the templates in the reader's language and gives each new visitor a cookie."""

import json
from typing import Any

from fastapi import Request, Response
from fastapi.templating import Jinja2Templates

from server import PROJECT_FOLDER
from server.gallery.scenarios import LANGUAGES
from server.http.documentation import is_documentation_built
from server.pool.interface import WORKERS_STARTING_MESSAGE
from server.services import get_services
from server.visitors.clients import new_visitor_cookie_header

templates = Jinja2Templates(directory=PROJECT_FOLDER / "templates")


def read_messages(language: str) -> dict[str, str]:
    """Read the sentences of all pages, by key."""
    folder = PROJECT_FOLDER / "static/locales"
    names = ("", "pages.", "matrix.", "builder.", "gallery.", "course.", "series.")
    parts = (folder / f"{name}{language}.json" for name in names)
    return {key: text for part in parts for key, text in json.loads(part.read_text("utf-8")).items()}


MESSAGES = {language: read_messages(language) for language in LANGUAGES}


def preloaded_chunks(*names: str) -> list[str]:
    """Return the chunks that these built scripts import before they run, each once; none if the page is not built."""
    built = PROJECT_FOLDER / "static/dist/chunks.json"
    chunks: dict[str, list[str]] = json.loads(built.read_text("utf-8")) if built.exists() else {}
    return list(dict.fromkeys(chunk for name in names for chunk in chunks.get(name, [])))


def painted_program() -> dict[str, Any] | None:
    """Return the front page's program with the syntax colours that the build computed; None if the page is not
    built."""
    built = PROJECT_FOLDER / "static/dist/painted.json"
    painted: dict[str, Any] | None = json.loads(built.read_text("utf-8")) if built.exists() else None
    return painted


templates.env.globals["preloaded_chunks"] = preloaded_chunks
templates.env.globals["has_documentation"] = is_documentation_built
templates.env.globals["painted_program"] = painted_program


def compile_templates() -> None:
    """Compile all templates, which takes a tenth of a second in which the event loop would answer nobody."""
    for name in templates.env.list_templates():
        templates.env.get_template(name)


def request_language(request: Request) -> str:
    """Return the language of `?lang=`, or else the first supported one in Accept-Language."""
    requested = request.query_params.get("lang")
    if requested in LANGUAGES:
        return requested
    for choice in request.headers.get("accept-language", "").split(","):
        code = choice.split(";")[0].strip()[:2].lower()
        if code in LANGUAGES:
            return code
    return LANGUAGES[0]


def is_fragment_request(request: Request) -> bool:
    """Return whether htmx asks for the changing part of a page."""
    return request.headers.get("hx-request") == "true"


def render_public_page(request: Request, name: str, lang: str, **values: Any) -> Response:
    """Render a page that is the same for all visitors, without a cookie."""
    context = {"lang": lang, "say": MESSAGES[lang], "nonce": request.state.nonce, "root": request.scope["root_path"]}
    return templates.TemplateResponse(request, name, {**context, **values})


def render_constant_page(request: Request, name: str, lang: str, **values: Any) -> bytes:
    """Render a page that never changes, as bytes. It can't contain a nonce."""
    context = {"request": request, "lang": lang, "say": MESSAGES[lang], "nonce": "", "root": request.scope["root_path"]}
    return templates.get_template(name).render(**context, **values).encode()


def with_language_and_session_headers(response: Response, signed_in: bool) -> Response:
    """Add headers that keep caches from giving the response to readers of another language or without the password."""
    response.headers["Vary"] = "Accept-Encoding, Accept-Language, Cookie, HX-Request"
    if signed_in:
        response.headers["Cache-Control"] = "private, no-store"
    return response


def render_visitor_page(request: Request, name: str, **values: Any) -> Response:
    """Render a page for one visitor in the request's language, with a cookie if the visitor has none."""
    answer = render_public_page(request, name, request_language(request), **values)
    answer.headers["Vary"] = "Accept-Language, HX-Request"
    services = get_services(request.scope)
    cookie = new_visitor_cookie_header(request.scope, services.visitors.cookie_key, services.visitors.proxies)
    if cookie is not None:
        answer.headers["Set-Cookie"] = cookie
        answer.headers["Cache-Control"] = "private, no-store"  # the page carries this visitor's cookie
    return answer


def render_workbench_page(request: Request, **values: Any) -> Response:
    """Render the page of a program, which runs it if this server can run programs now.

    values: for the template
    """
    services = get_services(request.scope)
    pool = services.pool
    return render_visitor_page(
        request,
        "page.html",
        devices=pool.devices,
        live=services.settings.live_mode,
        runs_nothing=pool.unavailable_reason("cpu") not in ("", WORKERS_STARTING_MESSAGE),
        **values,
    )


def render_partial(name: str, lang: str) -> str:
    """Render a partial as text."""
    return templates.get_template(name).render(lang=lang, say=MESSAGES[lang])
