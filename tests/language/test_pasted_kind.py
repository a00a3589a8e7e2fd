"""What is pasted is taken for what it is: programs for programs, all else for what its reader meant."""

import re
from pathlib import Path

import pytest

from gradbox.language.paste import normalise_pasted_text
from gradbox.language.pasted_kind import MESSAGES
from gradbox.language.policy import parse_and_check_program
from gradbox.language.tracebacks import find_error
from tests.language.pasted_texts import MISTAKES, OTHER_TEXTS, PLAIN, PROGRAMS, TRACEBACKS, PastedText

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
HEALTHY = sorted(
    path
    for folder in ("scenarios", "lessons", "tests", "gradbox", "server", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
)
ALL = {**TRACEBACKS, **OTHER_TEXTS, **PROGRAMS}


@pytest.mark.parametrize("pasted", ALL.values(), ids=ALL.keys())
def test_a_pasted_text_is_taken_for_what_it_is(pasted: PastedText) -> None:
    made = normalise_pasted_text(pasted.text)
    assert (made.other.key if made.other else "program") == pasted.key
    if made.other is None:
        compile(made.source, "<program>", "exec")
        assert all(part in made.source for part in pasted.holds)
        assert {notice.kind for notice in made.notices} >= set(pasted.notices)
    else:
        assert {name: made.other.args.get(name) for name in pasted.facts} == pasted.facts
        assert made.source == pasted.text, "what was pasted stays"
        assert made.other.message == MESSAGES[pasted.key] and "syntax" not in made.other.message


def test_there_are_enough_pastes_of_each_kind() -> None:
    assert len(TRACEBACKS) >= 10 and len(ALL) >= 30


@pytest.mark.parametrize(("source", "line"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_program_with_a_mistake_gets_the_words_of_python_at_its_line(source: str, line: int) -> None:
    made = normalise_pasted_text(source)
    assert made.other is None
    _, refusals = parse_and_check_program(made.source)
    assert refusals[0].key == "syntax"
    assert made.lines[refusals[0].line - 1] == line
    with pytest.raises(SyntaxError, match=re.escape(refusals[0].message)):
        compile(made.source, "<program>", "exec")


@pytest.mark.parametrize("folder", ["scenarios", "lessons", "tests", "gradbox", "server", "benchmarks"])
def test_no_program_of_this_project_is_taken_for_anything_else(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        source = path.read_text()
        made = normalise_pasted_text(source)
        assert made.other is None, path
        assert not {notice.kind for notice in made.notices} & {"html", "diff", "tabs", "around"}, path
        assert path.parent.name in ("pastes", "corpus") or (made.lines[:1] != [] and _is_kept(source, made.source)), (
            path
        )


def _is_kept(source: str, made: str) -> bool:
    """Whether a program is as it was, but for imports that were added."""
    lines = iter(made.split("\n"))
    return all(line in lines for line in source.split("\n"))


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is missing: its programs were not read")
def test_no_program_beside_the_checkout_is_taken_for_anything_else() -> None:
    paths = [*SHARED.rglob("*.py"), *SHARED.glob("seeds/**/*.txt")]
    for path in paths:
        assert normalise_pasted_text(path.read_text()).other is None, path
    assert paths


@pytest.mark.parametrize("length", [1, 3, 7, 20])
def test_a_program_that_is_cut_off_is_a_program_still(length: int) -> None:
    """Its first lines, and one half of the next: what is in the editor while somebody types."""
    for path in (ROOT / "scenarios").glob("*.py"):
        lines = path.read_text().split("\n")[: length + 1]
        text = "\n".join([*lines[:-1], lines[-1][: len(lines[-1]) // 2]])
        assert normalise_pasted_text(text).other is None, (path, text)


def test_a_traceback_names_the_last_line_of_its_readers_own_code() -> None:
    error = find_error(PLAIN.split("\n"))
    assert error is not None and len(error.frames) == 3
    assert [frame.is_library for frame in error.frames] == [False, True, True]
    assert error.innermost_own_frame is not None and error.innermost_own_frame.line == 42


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "\n\n# note\n",
        "x",
        "3",
        "torch",
        "[1, 2]",
        "'words in a string'",
        "print",
        "def",
        "\0",
        "<",
        "-",
        "@@",
        "@@ -",
        "?" * 40,
        "a b",
        "{" * 500,
        "\ud800",
        "Error:",
        "Traceback (most recent call last):",
    ],
)
def test_odd_texts_end_in_an_answer(text: str) -> None:
    made = normalise_pasted_text(text)
    assert made.other is not None or parse_and_check_program(made.source) is not None
