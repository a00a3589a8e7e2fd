"""A cell's picture in the pages by which VS Code and Colab show outputs, with their policies: it steps, in the colours
around it.

Neither program is here. VS Code puts all outputs of a notebook into one webview, by `innerHTML` and under a content
security policy; Colab puts each into a frame of another origin, which may neither read the page around it nor other
outputs.
"""

import html
from collections.abc import Callable
from typing import Any

import pytest

from gradbox.notebook.shortened_trace import MAX_PACKED_BYTES
from gradbox.pictures import page as pages
from gradbox.region import watch
from gradbox.run import Run

pytestmark = [pytest.mark.slow, pytest.mark.browser]

VSCODE_POLICY = (
    "default-src 'none'; script-src https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval'; "
    "style-src https://*.vscode-cdn.net 'unsafe-inline'; img-src https://*.vscode-cdn.net https: http: data:; "
    "font-src https://*.vscode-cdn.net https:; connect-src https: http: ws:; child-src https: data:"
)
VSCODE_PAGE = f"""<!doctype html><html><head><meta http-equiv="Content-Security-Policy" content="{VSCODE_POLICY}"></head>
<body class="vscode-THEME" data-vscode-theme-kind="vscode-THEME" style="overflow: hidden">
<div id="container" style="position: absolute; width: 100%; top: 0"></div></body></html>"""  # noqa: E501
ADD_OUTPUT = """text => {
  const output = document.createElement('div');
  output.className = 'output';
  output.innerHTML = text;
  document.getElementById('container').append(output);
}"""

COLAB_PAGE = """<!doctype html><html><body>FRAMES</body></html>"""
COLAB_SANDBOX = "allow-downloads allow-forms allow-pointer-lock allow-popups allow-scripts"
FRAMES = "iframe[title^=Gradbox]"


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """Two recordings: one that came to its end, and one that raised."""
    import torch

    w = torch.ones(3, requires_grad=True)
    with watch("sum", show=False) as finished:
        (w * 2).sum().backward()
    raised = watch("exp", show=False)
    with pytest.raises(RuntimeError), raised:
        v = w.exp()
        v.add_(1)
        v.sum().backward()
    return [finished.run, raised.run]


def output(run: Run, carrier: str | None) -> str:
    """What the notebook's file has of a picture.

    carrier: the number of the cell whose output has the viewer
    """
    return pages.notebook_frame(run.body, run.title, run.summary(), carrier=carrier)


def step(frame: Any, press: Callable[[str], None]) -> None:
    inside = frame.content_frame
    where = inside.locator("#where")
    inside.locator("[data-go=first]:not([disabled])").click()
    where.filter(has_text="Step 1 of").wait_for()
    press("ArrowRight")
    where.filter(has_text="Step 2 of").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_outputs_of_vscode_share_a_viewer_and_have_its_theme(chromium: Any, runs: list[Run], theme: str) -> None:
    page = chromium.new_page(viewport={"width": 900, "height": 1300})
    page.set_content(VSCODE_PAGE.replace("THEME", theme))
    for run, carrier in zip(runs, (None, "1"), strict=True):
        page.evaluate(ADD_OUTPUT, output(run, carrier))
    for k in range(2):
        frame = page.locator(FRAMES).nth(k)
        frame.scroll_into_view_if_needed()
        frame.content_frame.locator(f"html[data-theme={theme}] #where").filter(has_text="Step").wait_for()
        step(frame, page.keyboard.press)
    assert "overwrote" in page.locator(FRAMES).nth(1).content_frame.locator("#findings").inner_text()
    page.close()


def test_each_output_of_colab_starts_by_itself(chromium: Any, runs: list[Run]) -> None:
    page = chromium.new_page(viewport={"width": 900, "height": 1300})
    documents = [f"<!doctype html><body style='margin: 0'>{output(run, None)}</body>" for run in runs]
    frames = [
        f'<iframe sandbox="{COLAB_SANDBOX}" width="880" height="610" srcdoc="{html.escape(text)}"></iframe>'
        for text in documents
    ]
    page.set_content(COLAB_PAGE.replace("FRAMES", "".join(frames)))
    for k in range(2):
        around = page.locator("iframe").nth(k)
        around.scroll_into_view_if_needed()
        frame = around.content_frame.locator(FRAMES)
        frame.content_frame.locator("#where").filter(has_text="Step").wait_for()
        step(frame, page.keyboard.press)
    page.close()


@pytest.mark.parametrize(
    ("carrier", "words"),
    [
        ("4", "in the output of cell 4. Show that output, or put a new viewer into the notebook with %gradbox viewer."),
        ("", "in the output of the first picture. Show that output, or run its cell again."),
    ],
)
def test_a_picture_without_the_viewer_says_where_it_is(
    carrier: str, words: str, chromium: Any, runs: list[Run]
) -> None:
    """As of a notebook that was made in JupyterLab, or in marimo, and is opened in Colab."""
    page = chromium.new_page()
    text = html.escape(f"<!doctype html><body>{output(runs[0], carrier)}</body>")
    page.set_content(f'<iframe sandbox="{COLAB_SANDBOX}" width="880" height="610" srcdoc="{text}"></iframe>')
    missing = page.locator("iframe").content_frame.locator(FRAMES).content_frame.locator("#missing")
    missing.filter(has_text=words).wait_for()
    page.close()


def test_a_picture_that_shares_the_viewer_has_less_than_200_kilobytes(runs: list[Run]) -> None:
    import torch

    with watch("noise", show=False) as region:
        for _ in range(40):
            a = torch.randn(30, 30)
            b = a.exp()
            c = (a - b).sin()
    del c
    assert len(pages.base64_gzip(region.run.body.decode())) > 2 * MAX_PACKED_BYTES
    trace, title = region.run.trace_and_title_for_notebook()
    assert "the first" in title
    shortened = pages.notebook_frame(trace, title, region.run.summary(), carrier="1")
    assert 150_000 < len(shortened) < 200_000
    assert len(output(runs[0], "1")) < 20_000
