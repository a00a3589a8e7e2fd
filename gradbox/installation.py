"""Paths of this installation's assets: the page's scripts and styles, its sentences and templates.

In a checkout these are folders beside `gradbox`; in a wheel they are in gradbox/assets.
"""

from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parent
ASSETS_FOLDER = PACKAGE_FOLDER / "assets" if (PACKAGE_FOLDER / "assets").is_dir() else PACKAGE_FOLDER.parent
STATIC_FOLDER = ASSETS_FOLDER / "static"
TEMPLATES_FOLDER = ASSETS_FOLDER / "templates"
FINDINGS_FOLDER = ASSETS_FOLDER / ("findings" if ASSETS_FOLDER.name == "assets" else "docs/findings")
