"""The words of each kind of finding: one file, which says the same in both languages."""

import json
import re
from pathlib import Path

import pytest

from gradbox.terminal.finding_texts import WORDS_FOLDER

HOLES = re.compile(r"\{(\w+)[|}]")
FIELDS = {"en", "zh", "ask", "page"}


@pytest.mark.parametrize("path", sorted(WORDS_FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_kind_has_the_same_sentences_in_both_languages(path: Path) -> None:
    words = json.loads(path.read_text())
    english, chinese = words["en"], words["zh"]
    assert english.keys() == chinese.keys()
    assert all(any(re.search(rf"\b{part}$", key) for key in english) for part in ("what", "why", "todo"))
    for key, sentence in english.items():
        assert set(HOLES.findall(sentence)) == set(HOLES.findall(chinese[key])), key
    assert words.keys() <= FIELDS
    assert not words.get("ask") or words["ask"].keys() == {"en", "zh"}
    assert not words.get("page") or words["page"].keys() == {"title", "text"}
