"""The scenarios that ship are complete, and a broken file is reported with its name and its key."""

import ast
from pathlib import Path

import pytest

from server.language.paste import normalise
from server.language.policy import check
from server.language.scenarios import LANGUAGES, TEXT_KEYS, Scenario, ScenarioError, load_scenarios
from tests.tracing import trace

FOLDER = Path(__file__).parent.parent / "scenarios"
GALLERY = load_scenarios(FOLDER)
WHOLE = (
    'order = 3\nthread = "t"\nprints = ""\n[en]\ntitle = "T"\nquestion = "Q?"\nlook_at = "L"\n'
    '[zh]\ntitle = "题"\nquestion = "问"\nlook_at = "看"\n'
)


def test_the_first_shelf_is_in_order_and_begins_with_clone() -> None:
    assert [scenario.order for scenario in GALLERY] == list(range(1, len(GALLERY) + 1))
    assert GALLERY[0].name == "clone"
    assert {scenario.name for scenario in GALLERY} == {path.stem for path in FOLDER.glob("*.py")}


def test_threads_stand_together() -> None:
    threads = [scenario.thread for scenario in GALLERY]
    assert threads == sorted(threads, key=threads.index)


@pytest.mark.parametrize("scenario", GALLERY, ids=lambda scenario: scenario.name)
def test_a_scenario_is_short_accepted_and_told_in_each_language(scenario: Scenario) -> None:
    assert normalise(scenario.source).notices == []
    assert check(scenario.source)[1] == []
    statements = [node for node in ast.walk(ast.parse(scenario.source)) if isinstance(node, ast.stmt)]
    assert 5 <= len(statements) <= 12
    assert [set(scenario.text[language]) for language in LANGUAGES] == [set(TEXT_KEYS)] * 2
    for key in TEXT_KEYS:
        assert scenario.text["en"][key].isascii() or "·" in scenario.text["en"][key]
        assert any("\u4e00" <= character <= "\u9fff" for character in scenario.text["zh"][key])
    assert len(scenario.text["en"]["title"]) < 60


@pytest.mark.parametrize("scenario", GALLERY, ids=lambda scenario: scenario.name)
def test_a_scenario_ends_as_its_words_say(scenario: Scenario) -> None:
    recorded = trace(scenario.source)
    outcome = recorded["outcome"]
    assert outcome.get("error", {}).get("line") == scenario.raises_at
    assert outcome["status"] == ("raised" if scenario.raises_at else "finished")
    printed = "".join(entry["text"] for step in recorded["steps"] for entry in step["log"] if entry["kind"] == "out")
    assert printed.endswith(scenario.prints)


def write_scenario(folder: Path, text: str = WHOLE, name: str = "a") -> Path:
    (folder / f"{name}.py").write_text("x = 1\n")
    (folder / f"{name}.toml").write_text(text)
    return folder


def test_a_folder_is_read_in_its_order(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    write_scenario(tmp_path, WHOLE.replace("3", "1"), "b")
    assert [(scenario.name, scenario.order, scenario.source) for scenario in load_scenarios(tmp_path)] == [
        ("b", 1, "x = 1\n"),
        ("a", 3, "x = 1\n"),
    ]
    assert load_scenarios(tmp_path)[0].text["zh"] == {"title": "题", "question": "问", "look_at": "看"}


def test_no_folder_is_an_empty_shelf(tmp_path: Path) -> None:
    assert load_scenarios(tmp_path / "absent") == []


@pytest.mark.parametrize(
    "before, after, says",
    [
        ("order = 3\n", "", "a.toml: order: "),
        ("order = 3", "order = '3'", "a.toml: order: "),
        ("order = 3", "order = true", "a.toml: order: "),
        ("order = 3", "order = 0", "a.toml: order: "),
        ("order = 3", "order = ", "a.toml: "),
        ('thread = "t"', 'thread = ""', "a.toml: thread: "),
        ('thread = "t"', 'thread = "t"\nmore = 1', "a.toml: more: "),
        ('prints = ""\n', "", "a.toml: prints: "),
        ('prints = ""', "prints = 1", "a.toml: prints: "),
        ('prints = ""', 'prints = ""\nraises_at = "end"', "a.toml: raises_at: "),
        ("[zh]", "[de]", "a.toml: de: "),
        ('look_at = "看"', "", "a.toml: zh.look_at: "),
        ('question = "Q?"', "question = 1", "a.toml: en.question: "),
        ('title = "T"', 'title = "T"\ntitel = "T"', "a.toml: en.titel: "),
    ],
)
def test_an_error_names_the_file_and_the_key(tmp_path: Path, before: str, after: str, says: str) -> None:
    assert before in WHOLE
    with pytest.raises(ScenarioError) as error:
        load_scenarios(write_scenario(tmp_path, WHOLE.replace(before, after, 1)))
    assert str(error.value).startswith(says)


def test_a_program_needs_its_text_and_a_text_its_program(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(ScenarioError, match=r"^a\.py: there is no a\.toml"):
        load_scenarios(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "a.toml")
    with pytest.raises(ScenarioError, match=r"^a\.toml: there is no a\.py"):
        load_scenarios(tmp_path)


def test_two_scenarios_can_not_have_one_place(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    with pytest.raises(ScenarioError, match=r"^b\.toml: order: 3 is taken by a\.toml"):
        load_scenarios(write_scenario(tmp_path, WHOLE, "b"))


def test_a_program_is_utf_8(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    with pytest.raises(ScenarioError, match=r"^a\.py: "):
        load_scenarios(tmp_path)
