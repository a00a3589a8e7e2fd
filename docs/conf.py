"""How Sphinx makes HTML of the site's sources, which `python -m server docs` writes: docs/decisions/0050."""

import re
from typing import Any

project = "Gradbox"
author = "The Gradbox authors"
copyright = author  # noqa: A001 Sphinx's name
extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_heading_anchors = 4
# a document may begin below its first level, and a word may be highlighted as a language that it is not
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "furo"
html_title = "Gradbox"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#5a43d6", "color-brand-content": "#5a43d6"},
    "dark_css_variables": {"color-brand-primary": "#a99bff", "color-brand-content": "#a99bff"},
}


EMPTY_TABLE_HEAD = re.compile(r"<thead>\s*<tr[^>]*>(\s*<th[^>]*>\s*(<p>\s*</p>)?\s*</th>)+\s*</tr>\s*</thead>")


def finish_page(_app: Any, _name: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """What screen readers and keyboards need: a level for the captions of the navigation, which the theme has as
    headings; no empty head of a table, which Markdown can't do without; code that can be scrolled by keys."""
    tree = context.get("furo_navigation_tree")
    if tree:
        context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    if context.get("body"):
        body = EMPTY_TABLE_HEAD.sub("", context["body"]).replace('<th class="head"><p></p></th>', "<td></td>")
        context["body"] = body.replace("<pre>", '<pre tabindex="0">')


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("html-page-context", finish_page, priority=900)
