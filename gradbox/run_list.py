"""The page that lists several recordings of one script, each with a link to its picture."""

import html
import secrets
from collections.abc import Sequence
from string import Template

from gradbox.run import Run

HEADINGS = {"en": "Recordings of {script}", "zh": "{script} 的记录"}

LIST_PAGE = Template("""<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-$nonce'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gradbox: $heading</title>
<style nonce="$nonce">
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 44rem; margin: 2.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.25rem; font-weight: 600; }
ol { list-style: none; padding: 0; border-top: 1px solid #8885; }
li { border-bottom: 1px solid #8885; }
a { display: block; padding: .7rem .25rem; color: inherit; text-decoration: none; }
a:hover { background: #8882; }
b { display: block; font-weight: 600; color: light-dark(#0b57d0, #8ab4f8); }
a:focus-visible { outline: 2px solid; outline-offset: -2px; }
</style>
</head>
<body>
<h1>$heading</h1>
<ol>
$rows
</ol>
</body>
</html>
""")


def run_pages(runs: Sequence[Run], language: str = "en") -> dict[str, str]:
    """Return the viewer's pages by path below its address; "" is the page of a single run, or the list of several.

    language: for the list's heading
    """
    if len(runs) == 1:
        return {"": runs[0].page()}
    return {"": run_list_page(runs, language), **{f"{k}/": run.page() for k, run in enumerate(runs, 1)}}


def run_list_page(runs: Sequence[Run], language: str = "en") -> str:
    """Return the list as HTML. Raises IndexError if there are no runs."""
    script = runs[0].title.partition(": ")[0]
    rows = []
    for k, run in enumerate(runs, 1):
        label = run.title.partition(": ")[2]
        summary = run.summary().removeprefix(f"{run.title}: ")
        rows.append(f'<li><a href="{k}/"><b>{html.escape(label)}</b>{html.escape(summary)}</a></li>')
    return LIST_PAGE.substitute(
        language=language, nonce=secrets.token_hex(16), rows="\n".join(rows),
        heading=html.escape(HEADINGS[language].format(script=script)),
    )  # fmt: skip
