"""The pages of a recorded run, made from the front end's build: an offline file, and a cell's output in a notebook."""

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
from gradbox.pictures.built_files import offline_script_name, offline_style_name

SHARED_CONTENTS = ("list", "stage", "series")
"""What the pages hold that `write_shared_assets` writes scripts and styles for: a run with either picture, or
one without answers."""

FRAME_HEIGHT = 600
"""The height of a cell's output in pixels."""

CONTENT_SECURITY_POLICY = Template(
    "default-src 'none'; script-src 'nonce-$nonce'; style-src 'nonce-$nonce'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
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

FRAME_SCRIPT = Template("""
(async () => {
  const textOf = (id) => document.getElementById(id)?.textContent;
  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const add = (parent, name, fields) => parent.append(Object.assign(document.createElement(name), fields));
  const id = "$viewer", came = "gradboxviewer";
  let host = null;
  try {
    parent.gradboxViewers ??= {};
    host = parent;
  } catch {}
  const own = textOf("viewer");
  if (own && host) {
    host.gradboxViewers[id] = own;
    host.dispatchEvent(new Event(came));
  }
  if (!textOf("run")) return;
  const find = () => own ?? host?.gradboxViewers[id];
  const viewer = new Promise((resolve) => {
    const look = () => find() && resolve(find());
    look();
    host?.addEventListener(came, look);
  });
  const inSight = new Promise((resolve) => {
    const isSeen = (entries) => entries.some((entry) => entry.isIntersecting);
    new IntersectionObserver((entries) => isSeen(entries) && resolve()).observe(document.body);
  });
  setTimeout(() => textOf("first") || (document.getElementById("missing").hidden = Boolean(find())), 1500);
  await inSight;
  const { style, markup, script } = JSON.parse(await unpack(await viewer));
  const textContent = await unpack(textOf("run"));
  add(document.head, "style", { nonce: "$nonce", textContent: style });
  document.getElementById("missing").remove();
  document.body.className = "embed notebook";
  document.body.insertAdjacentHTML("afterbegin", markup);
  add(document.body, "script", { type: "application/json", id: "first", textContent });
  add(document.body, "script", { nonce: "$nonce", textContent: script });
})();
""")
"""The first code in a cell's output. All data in the output is packed to a third of its size, and the code makes no
request, which a notebook's policy could refuse. One output of the notebook contains the viewer and hands it to the page
around the frames, where the other frames find it, whichever comes first. A picture starts when it becomes visible."""

FRAME_STYLE = ":root{color-scheme:light dark}body{margin:8px;font:14px/1.5 system-ui,sans-serif}body.embed{margin:0}"

FRAME_HTML = Template(
    '<div class="gradbox" style="position:relative;width:100%;height:${height}px">'
    '<p style="margin:0;padding:8px">$fallback</p>'
    '<iframe title="$title" style="position:absolute;left:0;top:0;width:100%;height:100%;border:0" '
    'srcdoc="$page"></iframe>'
    "</div>"
)

SCRIPTS_OFF_MESSAGES = {
    "en": "Scripts are off here: trust the notebook, or export it to HTML, to step through this run.",
    "zh": "这里停用了脚本：信任此笔记本，或将其导出为 HTML，即可逐步查看这次运行。",
}

MISSING_VIEWER_MESSAGES = {
    "en": Template(
        "$summary The viewer, which the pictures of a notebook share, is in the output of $carrier. Show that "
        "output$or_else"
    ),
    "zh": Template("$summary 同一笔记本的图共用一个查看器，它在$carrier的输出中。请显示那个输出，$or_else"),
}

OTHER_WAYS_TO_VIEWER = {
    "en": (
        ", or put a new viewer into the notebook with %gradbox viewer. A cell with %%gradbox --whole has one of its "
        "own.",
        ", or run its cell again.",
    ),
    "zh": (
        "或用 %gradbox viewer 在笔记本中放入新的查看器。用 %%gradbox --whole 运行的单元格自带查看器。",
        "或再次运行它的单元格。",
    ),
}
"""Advice for notebooks whose cells have numbers and magics, as in Jupyter, and for others, such as marimo's."""

SHORTENED_NOTES = {
    "en": Template("$title: the first $count of $all steps; run.save('run.html') writes all"),
    "zh": Template("$title：前 $count 步，共 $all 步；run.save('run.html') 写出全部"),
}

VIEWER_CELL_NAMES = {"en": ("cell $number", "the first picture"), "zh": ("第 $number 个单元格", "第一幅图")}
"""The name of the cell whose output contains the viewer, with its number and without."""

VIEWER_MESSAGES = {
    "en": "The viewer of this notebook's pictures is in this output.",
    "zh": "此笔记本中图的查看器保存在这个输出中。",
}

VIEWER_HEIGHT = 44


def offline_page(
    trace: bytes, answers: bytes | None, title: str, language: str = "en", assets: bool = False, verdict: bool = False
) -> str:
    """The offline file of a trace's JSON, the same as a server's `/s/{id}.html`: one document that needs no network.

    answers: what the renderer made of the trace for such a file, as JSON; without it the page has the code that finds
        all of it
    assets: whether its script and styles are files beside it, which `write_shared_assets` writes, instead of being
        included
    verdict: whether it opens with what was found in the run above its picture
    """
    nonce = secrets.token_hex(16)
    content = json.loads(answers)["picture"] if answers else "series"
    script_name, style_name = offline_script_name(content, language), offline_style_name(content)
    script = re.sub(r"</script", r"<\\/script", _read_built_file(script_name), flags=re.IGNORECASE).replace(
        "<!--", r"<\!--"
    )
    style = re.sub(r"</style", r"<\\/style", _read_built_file(style_name), flags=re.IGNORECASE)
    data = _escaped_script_json(_page_data_json(trace, title, verdict, answers))
    return NOTEBOOK_DOCUMENT.substitute(
        language=language,
        policy=CONTENT_SECURITY_POLICY.substitute(nonce=nonce),
        title=html.escape(f"Gradbox: {title}"),
        head=f'<link rel="stylesheet" nonce="{nonce}" href="{style_name}">\n'
        if assets
        else f'<style nonce="{nonce}">\n{style}\n</style>\n',
        attributes="",
        body=_offline_markup(language),
        scripts=f'<script type="application/json" id="first">{data}</script>\n'
        + (
            f'<script nonce="{nonce}" src="{script_name}"></script>'
            if assets
            else f'<script nonce="{nonce}">\n{script}\n</script>'
        ),
    )


def write_shared_assets(folder: Path) -> None:
    """Write the script and the styles for offline pages that do not contain them.

    folder: the folder of the pages
    """
    scripts = [offline_script_name(content, "en") for content in SHARED_CONTENTS]
    for name in {*scripts, *map(offline_style_name, SHARED_CONTENTS)}:
        (folder / name).write_text(_read_built_file(name), "utf-8")


def notebook_page(trace: bytes, title: str, message: str, language: str = "en", *, has_viewer: bool = True) -> str:
    """The document inside a cell's output: the packed trace and, with has_viewer, the viewer in one language.

    message: the text that is shown if a viewer is missing
    """
    run = base64_gzip(_page_data_json(trace, title))
    parts = [f'<script type="text/plain" id="run">{run}</script>']
    if has_viewer:
        parts.insert(0, _viewer_element(language))
    body = f'<noscript>{SCRIPTS_OFF_MESSAGES[language]}</noscript><p id="missing" hidden>{html.escape(message)}</p>'
    return _frame_document(f"Gradbox: {title}", body, parts, language)


def notebook_frame(
    trace: bytes, title: str, summary: str, language: str = "en", height: int = FRAME_HEIGHT, carrier: str | None = None
) -> str:
    """A cell's output: a frame with the page in an attribute, and a text for places that remove frames.

    summary: the run in a sentence
    height: of the frame, in pixels
    carrier: the number of the cell whose output contains the viewer, "" if it has no number; None if this output
        contains it
    """
    message = ""
    if carrier is not None:
        with_number, without = VIEWER_CELL_NAMES[language]
        name = Template(with_number).substitute(number=carrier) if carrier else without
        with_magic, without_magic = OTHER_WAYS_TO_VIEWER[language]
        message = MISSING_VIEWER_MESSAGES[language].substitute(
            summary=summary, carrier=name, or_else=with_magic if carrier else without_magic
        )
    document = notebook_page(trace, title, message, language, has_viewer=carrier is None)
    return _frame_html(f"Gradbox: {title}", document, f"{summary} {SCRIPTS_OFF_MESSAGES[language]}", height)


def viewer_frame(language: str = "en") -> str:
    """An output with the viewer and no picture, for the pictures of other outputs."""
    text = VIEWER_MESSAGES[language]
    document = _frame_document("Gradbox", f"<p>{text}</p>", [_viewer_element(language)], language)
    return _frame_html("Gradbox", document, text, VIEWER_HEIGHT)


@cache
def viewer_id(language: str) -> str:
    """The name by which frames find the viewer, different for each build and language."""
    return hashlib.sha256(_packed_viewer(language).encode()).hexdigest()[:16]


def _frame_html(title: str, document: str, fallback: str, height: int) -> str:
    return FRAME_HTML.substitute(
        height=int(height), fallback=html.escape(fallback), title=html.escape(title), page=html.escape(document)
    )


def _frame_document(title: str, body: str, parts: list[str], language: str) -> str:
    """The document of the frame that shows a picture.

    parts: script elements that hold data
    """
    data = "\n".join(parts)
    nonce = hashlib.sha256(data.encode()).hexdigest()[:32]  # the same run gives the same output; nothing in it can know
    script = FRAME_SCRIPT.substitute(nonce=nonce, viewer=viewer_id(language))
    return NOTEBOOK_DOCUMENT.substitute(
        language=language,
        policy=CONTENT_SECURITY_POLICY.substitute(nonce=nonce),
        title=html.escape(title),
        head=f'<style nonce="{nonce}">{FRAME_STYLE}</style>\n',
        attributes="",
        body=body,
        scripts=f'{data}\n<script nonce="{nonce}">{script}</script>',
    )


def _viewer_element(language: str) -> str:
    return f'<script type="text/plain" id="viewer">{_packed_viewer(language)}</script>'


def _page_data_json(trace: bytes, title: str, verdict: bool = False, answers: bytes | None = None) -> str:
    """What the page's script starts with, as JSON."""
    fields = {"step": None, "title": title, "verdict": verdict}
    kept = f'"answers":{answers.decode()},' if answers else ""
    return f'{{"trace":{trace.decode()},{kept}{json.dumps(fields)[1:]}'


@cache
def _packed_viewer(language: str) -> str:
    """Styles, markup and script for the pictures in a notebook."""
    style, script = _read_built_file("notebook.css"), _read_built_file(f"notebook.{language}.js")
    return base64_gzip(json.dumps({"style": style, "markup": _offline_markup(language), "script": script}))


def base64_gzip(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _escaped_script_json(text: str) -> str:
    """JSON as the content of a script element, escaped so that nothing in it can end the element or begin another."""
    return re.sub("[<>&\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", text)


@cache
def _read_built_file(name: str) -> str:
    """A built file of the front end. Raises FileNotFoundError, which says what to do."""
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
