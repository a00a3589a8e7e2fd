"""The pages of a recorded run, made of what the front end's build has left: an offline file, and a cell's output in a notebook."""

import base64
import gzip
import hashlib
import html
import json
import re
import secrets
from functools import cache
from pathlib import Path
from string import Template

import jinja2

from gradbox.installation import STATIC_FOLDER, TEMPLATES_FOLDER

LANGUAGES = ("en", "zh")

SHARED_ASSETS = ("offline.js", "style.css")
"""The script and the styles of offline pages that have them beside themselves."""

FRAME_HEIGHT = 600
"""Pixels of a cell's output."""

CONTENT_SECURITY_POLICY = Template(
    "default-src 'none'; script-src 'nonce-$nonce'; style-src 'nonce-$nonce'; img-src data:; base-uri 'none'; form-action 'none'"
)

NOTEBOOK_DOCUMENT = Template("""<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
$head</head>
<body$attributes>
$body
$scripts
</body>
</html>
""")

UNPACK_SCRIPT = Template("""
(async () => {
  const unpack = async (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const add = (parent, name, fields) => parent.append(Object.assign(document.createElement(name), fields));
  const { style, script } = JSON.parse(await unpack("viewer"));
  const textContent = await unpack("run");
  add(document.head, "style", { nonce: "$nonce", textContent: style });
  add(document.body, "script", { type: "application/json", id: "first", textContent });
  add(document.body, "script", { nonce: "$nonce", textContent: script });
})();
""")
"""What a cell's output does first: all it holds is packed, to a third of its size. It makes no request, which the policy of
a notebook could refuse."""

FRAME_HTML = Template(
    '<div class="gradbox" style="position:relative;width:100%;height:${height}px">'
    '<p style="margin:0;padding:8px">$fallback</p>'
    '<iframe title="$title" style="position:absolute;left:0;top:0;width:100%;height:100%;border:0" srcdoc="$page"></iframe>'
    "</div>"
)

SCRIPTS_OFF_MESSAGES = {
    "en": "Scripts are off here: trust the notebook, or export it to HTML, to step through this run.",
    "zh": "这里停用了脚本：信任此笔记本，或将其导出为 HTML，即可逐步查看这次运行。",
}


def offline_page(trace: bytes, title: str, language: str = "en", assets: bool = False) -> str:
    """The file that `/s/{id}.html` of a server is, of a trace's JSON: one document that needs no network.

    assets: whether its script and styles are files beside it, which `write_shared_assets` writes, instead of parts of it.
    """
    nonce = secrets.token_hex(16)
    script = re.sub(r"</script", r"<\\/script", _read_built_file("offline.js"), flags=re.IGNORECASE).replace(
        "<!--", r"<\!--"
    )
    style = re.sub(r"</style", r"<\\/style", _read_built_file("style.css"), flags=re.IGNORECASE)
    return NOTEBOOK_DOCUMENT.substitute(
        language=language,
        policy=CONTENT_SECURITY_POLICY.substitute(nonce=nonce),
        title=html.escape(f"Gradbox: {title}"),
        head=f'<link rel="stylesheet" nonce="{nonce}" href="{SHARED_ASSETS[1]}">\n'
        if assets
        else f'<style nonce="{nonce}">\n{style}\n</style>\n',
        attributes="",
        body=_offline_markup(language),
        scripts=f'<script type="application/json" id="first">{_escaped_script_json(_page_data_json(trace, title))}</script>\n'
        + (
            f'<script nonce="{nonce}" src="{SHARED_ASSETS[0]}"></script>'
            if assets
            else f'<script nonce="{nonce}">\n{script}\n</script>'
        ),
    )


def write_shared_assets(folder: Path) -> None:
    """Write the script and the styles of offline pages that don't have them inside. folder: that of the pages."""
    for name in SHARED_ASSETS:
        (folder / name).write_text(_read_built_file(name), "utf-8")


def notebook_page(trace: bytes, title: str, language: str = "en") -> str:
    """The document inside a cell's output: script, styles and trace packed, in one language."""
    run = _base64_gzip(_page_data_json(trace, title))
    nonce = hashlib.sha256(run.encode()).hexdigest()[:32]  # the same run gives the same output; nothing in it can know
    return NOTEBOOK_DOCUMENT.substitute(
        language=language,
        policy=CONTENT_SECURITY_POLICY.substitute(nonce=nonce),
        title=html.escape(f"Gradbox: {title}"),
        head="",
        attributes=' class="embed notebook"',
        body=_offline_markup(language),
        scripts=f'<script type="text/plain" id="viewer">{_packed_script_and_styles(language)}</script>\n'
        f'<script type="text/plain" id="run">{run}</script>\n'
        f'<script nonce="{nonce}">{UNPACK_SCRIPT.substitute(nonce=nonce)}</script>',
    )


def notebook_frame(trace: bytes, title: str, summary: str, language: str = "en", height: int = FRAME_HEIGHT) -> str:
    """A cell's output: a frame with the page in an attribute, and what is read where frames are taken out.

    summary: the run in a sentence. height: of the frame, in pixels.
    """
    return FRAME_HTML.substitute(
        height=int(height),
        fallback=html.escape(f"{summary} {SCRIPTS_OFF_MESSAGES[language]}"),
        title=html.escape(f"Gradbox: {title}"),
        page=html.escape(notebook_page(trace, title, language)),
    )


def _page_data_json(trace: bytes, title: str) -> str:
    """What the page's script starts with, as JSON."""
    return f'{{"trace":{trace.decode()},"step":null,"title":{json.dumps(title)}}}'


@cache
def _packed_script_and_styles(language: str) -> str:
    """The script and the styles of a cell's output."""
    return _base64_gzip(
        json.dumps({"style": _read_built_file("notebook.css"), "script": _read_built_file(f"notebook.{language}.js")})
    )


def _base64_gzip(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _escaped_script_json(text: str) -> str:
    """JSON as the content of a script element: nothing in it can end the element or begin another."""
    return re.sub("[<>&\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", text)


@cache
def _read_built_file(name: str) -> str:
    """A built file of the front end. Raises FileNotFoundError with what to do."""
    path = STATIC_FOLDER / "dist" / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: build the page with `make build`")
    return path.read_text("utf-8")


@cache
def _offline_markup(language: str) -> str:
    """The markup of the offline file."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES_FOLDER), autoescape=True, undefined=jinja2.StrictUndefined
    )
    files = (STATIC_FOLDER / f"locales/{name}{language}.json" for name in ("", "pages."))
    say: dict[str, str] = {key: text for path in files for key, text in json.loads(path.read_text("utf-8")).items()}
    return environment.get_template("partials/_offline.html").render(lang=language, say=say, away="")
