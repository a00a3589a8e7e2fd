"""docs/library.md is what its script makes, and every snippet and question beside the checkout has a row in it."""

import json

import pytest

from tests.conftest import ROOT
from tests.gallery import library

SHARED = ROOT.parent / "shared"


def test_the_page_is_what_the_script_makes() -> None:
    assert library.PAGE.read_text("utf-8") == library.page(), "python -m tests.gallery.library"
    assert all(names for part in library.read_library().values() for names in part.values())


def test_every_snippet_of_the_articles_leads_to_a_scenario() -> None:
    if not (SHARED / "seeds/snippets.json").exists():
        pytest.skip("../shared/seeds is missing: the table of the articles' snippets was not checked")
    snippets = {snippet["id"] for snippet in json.loads((SHARED / "seeds/snippets.json").read_text())}
    assert library.read_library()["snippets"].keys() == snippets


def test_every_question_leads_to_a_scenario() -> None:
    if not (SHARED / "questions").is_dir():
        pytest.skip("../shared/questions is missing: the table of the questions was not checked")
    assert library.read_library()["questions"].keys() == {path.stem for path in (SHARED / "questions").glob("*.py")}
