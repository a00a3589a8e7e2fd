"""The page of each kind of finding: its file, or what is made of the kind's words and program."""

from pathlib import Path

import pytest

from gradbox.installation import FINDINGS_FOLDER
from gradbox.terminal.finding_texts import FindingTextError, finding_kinds, load_finding_text


def test_every_kind_of_finding_has_a_page_and_no_other_has() -> None:
    assert {path.stem for path in FINDINGS_FOLDER.iterdir()} == set(finding_kinds())
    titles = [load_finding_text(kind).title for kind in finding_kinds()]
    assert len(set(titles)) == len(titles)
    for kind in finding_kinds():
        text = load_finding_text(kind)
        assert 20 < len(text.summary) < 300 and text.program.startswith("import"), kind


def test_a_page_without_a_title_or_a_program_is_named(tmp_path: Path) -> None:
    for kind in ("broken", "empty"):
        (tmp_path / f"{kind}.json").write_text('{"page": {"title": "Only words", "text": "No program."}}')
    (tmp_path / "broken.md").write_text("# Only a title\n")
    with pytest.raises(FindingTextError, match=r"broken\.md: a title, a text and a program"):
        load_finding_text("broken", tmp_path, tmp_path)
    with pytest.raises(FindingTextError, match=r"empty\.py: a title, a text and a program"):
        load_finding_text("empty", tmp_path, tmp_path)
    with pytest.raises(FindingTextError, match="no finding of this name"):
        load_finding_text("../secrets", tmp_path, tmp_path)


def test_a_page_is_made_of_a_kinds_words_and_program(tmp_path: Path) -> None:
    (tmp_path / "made.json").write_text('{"page": {"title": "A title", "text": "One sentence. Another.\\n\\nMore."}}')
    (tmp_path / "made.py").write_text("# made: x\nimport torch\nx = torch.ones(2)  # cause\n")
    made = load_finding_text("made", tmp_path, tmp_path)
    assert (made.title, made.summary, made.text) == ("A title", "One sentence.", "One sentence. Another.\n\nMore.")
    assert made.program == "import torch\nx = torch.ones(2)\n"
