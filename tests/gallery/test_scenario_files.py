"""The scenarios that ship are complete and end as they say, and a broken file is reported with its name and its key."""

import ast
import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gradbox.language.paste import normalise_pasted_text
from gradbox.language.policy import parse_and_check_program
from server.gallery.scenarios import (
    GALLERY_SECTIONS,
    LANGUAGES,
    TEXT_KEYS,
    Claim,
    Scenario,
    ScenarioError,
    load_scenarios,
)
from server.templating import MESSAGES
from tests.agreement.test_agreement import is_true
from tests.gallery import new_scenario
from tests.support.explaining import findings_of_traces
from tests.support.sampling import parameters_of_run
from tests.support.tracing import Replay, trace

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "scenarios"
GALLERY = load_scenarios(FOLDER)
EACH = pytest.mark.parametrize("scenario", GALLERY, ids=lambda scenario: scenario.name)
NODE_NAME = re.compile(r"\b[A-Z]\w*Backward\d*\b")
FRACTION = re.compile(r"-?\d+\.\d*(?:e[-+]\d+)?")
PART_OF_NAME = re.compile(r"(?<![\w.·])([a-z_]\w*)(?:\[|\.[a-z_])")
"""A name of which an element or an attribute is spoken of, as `x` in `x.grad` and `x[0]`."""

WHOLE = (
    'order = 3\nthread = "views"\nprints = ""\nsource = ""\nfindings = []\nsymptoms = ["view"]\n'
    '[en]\ntitle = "T"\nquestion = "Q?"\nlook_at = "L"\n'
    '[zh]\ntitle = "题"\nquestion = "问"\nlook_at = "看"\n'
)
CLAIM = '[claim]\nholds = "ok"\nbelief.en = "B."\nbelief.zh = "信"\n'


def test_the_gallery_has_every_program_and_begins_with_clone() -> None:
    assert GALLERY[0].name == "clone"
    assert {scenario.name for scenario in GALLERY} == {path.stem for path in FOLDER.glob("*.py")}


def test_threads_stand_together_and_have_titles() -> None:
    threads = [GALLERY_SECTIONS.index(scenario.thread) for scenario in GALLERY]
    assert threads == sorted(threads)
    for language in LANGUAGES:
        assert {f"thread_{thread}" for thread in GALLERY_SECTIONS} <= MESSAGES[language].keys()


@EACH
def test_a_scenario_is_short_accepted_and_described_in_each_language(scenario: Scenario) -> None:
    assert normalise_pasted_text(scenario.source).notices == []
    assert parse_and_check_program(scenario.source)[1] == []
    statements = [node for node in ast.walk(ast.parse(scenario.source)) if isinstance(node, ast.stmt)]
    assert 4 <= len(statements) <= 24
    assert [set(scenario.text[language]) for language in LANGUAGES] == [set(TEXT_KEYS)] * 2
    for key in TEXT_KEYS:
        assert scenario.text["en"][key].isascii() or re.search("[·×²–—…]", scenario.text["en"][key])
        if f"zh.{key}" not in scenario.untranslated:  # a test below names those that are missing
            assert any("\u4e00" <= character <= "\u9fff" for character in scenario.text["zh"][key])
    assert len(scenario.text["en"]["title"]) < 60


def recorded_trace(source: str) -> dict[str, Any]:
    """The trace of a program, a copy for each test. It is recorded once."""
    trace_of_program: dict[str, Any] = json.loads(recorded_json(source))
    return trace_of_program


@cache
def recorded_json(source: str) -> str:
    return json.dumps(trace(source))


def same_but_for_rounding(text: str, expected: str) -> bool:
    """Whether two texts are equal but for the last digits of numbers, in which processors differ."""
    if FRACTION.sub("#", text) != FRACTION.sub("#", expected):
        return False
    pairs = zip(FRACTION.findall(text), FRACTION.findall(expected), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-7) for a, b in pairs)


@pytest.mark.parametrize(
    ("text", "same"),
    [("0.1763310\n", True), ("0.1763309\n", True), ("0.17641\n", False), ("0.1763310", False), ("-0.1763310\n", False)],
)
def test_only_the_last_digits_of_a_number_may_differ(text: str, same: bool) -> None:
    assert same_but_for_rounding(text, "0.1763310\n") is same


@EACH
def test_a_scenario_ends_as_its_words_say(scenario: Scenario) -> None:
    recorded = recorded_trace(scenario.source)
    outcome = recorded["outcome"]
    assert outcome.get("error", {}).get("line") == scenario.raises_at
    assert outcome["status"] == ("raised" if scenario.raises_at else "finished")
    printed = "".join(entry["text"] for step in recorded["steps"] for entry in step["log"] if entry["kind"] == "out")
    lines, stated = printed.splitlines(), scenario.prints.splitlines()
    assert same_but_for_rounding("\n".join(lines[len(lines) - len(stated) :]), "\n".join(stated))
    if scenario.still_line is not None:
        assert scenario.still_line in {step["line"] for step in recorded["steps"]}
    if scenario.claim is not None:
        assert module_names(recorded).get(scenario.claim.holds) in (True, False)


@EACH
def test_a_scenario_runs_as_in_plain_python_and_its_picture_is_true(scenario: Scenario) -> None:
    is_true(scenario.source, recorded_trace(scenario.source))


@EACH
def test_the_things_to_look_at_exist_in_the_run(scenario: Scenario) -> None:
    """The nodes that it names are in the graph, and the names of which it names a part are in the program."""
    recorded = recorded_trace(scenario.source)
    values = [entity for step in recorded["steps"] for entity in step["set"].values()]
    nodes = {entity["name"].rpartition(".")[2] for entity in values if entity.get("kind") == "node"}
    words = set(re.findall(r"\w+", scenario.source))
    for language in LANGUAGES:
        text = scenario.text[language]["look_at"]
        assert set(NODE_NAME.findall(text)) <= nodes | words
        assert set(PART_OF_NAME.findall(text)) <= words
        assert words & set(re.findall(r"[A-Za-z_]\w*", text)), "it names nothing of the program"


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> dict[str, set[str]]:
    """The kinds of findings of every scenario that is asked for."""
    scenarios = parameters_of_run(request, "scenario")
    found = findings_of_traces([recorded_trace(scenario.source) for scenario in scenarios])
    return {
        scenario.name: {finding["kind"] for finding in findings}
        for scenario, findings in zip(scenarios, found, strict=True)
    }


@EACH
def test_the_findings_of_a_scenario_are_those_that_its_card_names(
    scenario: Scenario, found: dict[str, set[str]]
) -> None:
    assert set(scenario.findings) == found[scenario.name]


def module_names(recorded: dict[str, Any]) -> dict[str, Any]:
    """What the names of the module are bound to at the end."""
    state = Replay(recorded).state
    (module,) = (entity for entity in state.values() if entity["kind"] == "frame" and entity.get("caller") is None)
    names: dict[str, Any] = module["vars"]
    return names


def write_scenario(folder: Path, text: str = WHOLE, name: str = "a") -> Path:
    (folder / f"{name}.py").write_text("x = 1\n")
    (folder / f"{name}.toml").write_text(text)
    return folder


def test_a_new_scenario_is_valid_while_its_chinese_texts_are_missing(tmp_path: Path) -> None:
    program, card = new_scenario.write_scenario(tmp_path, "view_of_a_view")
    (draft,) = load_scenarios(tmp_path)
    assert draft.source == program.read_text() and draft.text["zh"] == draft.text["en"]
    assert draft.untranslated == ("zh.title", "zh.question", "zh.look_at")
    card.write_text(card.read_text().replace('= ""\n', '= "文"\n').replace('source = "文"', 'source = ""'))
    (translated,) = load_scenarios(tmp_path)
    assert translated.untranslated == () and translated.text["zh"]["title"] == "文"
    assert new_scenario.write_scenario(tmp_path, "view_of_a_view") == [], "what is there stays"
    with pytest.raises(ValueError, match="no name of a scenario"):
        new_scenario.write_scenario(tmp_path, "../x")


def test_a_folder_is_read_in_its_order(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    write_scenario(tmp_path, WHOLE.replace("3", "1"), "b")
    assert [(scenario.name, scenario.order, scenario.source) for scenario in load_scenarios(tmp_path)] == [
        ("b", 1, "x = 1\n"),
        ("a", 3, "x = 1\n"),
    ]
    assert load_scenarios(tmp_path)[0].text["zh"] == {"title": "题", "question": "问", "look_at": "看"}


def test_an_absent_folder_has_no_scenarios(tmp_path: Path) -> None:
    assert load_scenarios(tmp_path / "absent") == []


def test_a_claim_is_read(tmp_path: Path) -> None:
    (scenario,) = load_scenarios(write_scenario(tmp_path, WHOLE + CLAIM))
    assert scenario.claim == Claim({"en": "B.", "zh": "信"}, "ok")


@pytest.mark.parametrize(
    "before, after, says",
    [
        ("order = 3\n", "", "a.toml: order: "),
        ("order = 3", "order = '3'", "a.toml: order: "),
        ("order = 3", "order = true", "a.toml: order: "),
        ("order = 3", "order = 0", "a.toml: order: "),
        ("order = 3", "order = ", "a.toml: "),
        ('thread = "views"', 'thread = ""', "a.toml: thread: "),
        ('thread = "views"', 'thread = "view"', "a.toml: thread: expected one of copying, "),
        ('thread = "views"', 'thread = "views"\nmore = 1', "a.toml: more: "),
        ('prints = ""\n', "", "a.toml: prints: "),
        ('prints = ""', "prints = 1", "a.toml: prints: "),
        ('prints = ""', 'prints = ""\nraises_at = "end"', "a.toml: raises_at: "),
        ('prints = ""', 'prints = ""\ntelling = 0', "a.toml: telling: "),
        ('source = ""\n', "", "a.toml: source: "),
        ('source = ""', 'source = "pytorch#1"', "a.toml: source: "),
        ("findings = []", "findings = [1]", "a.toml: findings: "),
        ('symptoms = ["view"]', 'symptoms = "view"', "a.toml: symptoms: "),
        ('symptoms = ["view"]', 'symptoms = ["view", " "]', "a.toml: symptoms: "),
        ("[zh]", "[de]", "a.toml: de: "),
        ('look_at = "L"', "", "a.toml: en.look_at: "),
        ('question = "Q?"', "question = 1", "a.toml: en.question: "),
        ('title = "T"', 'title = "T"\ntitel = "T"', "a.toml: en.titel: "),
        ('holds = "ok"', 'holds = "x.ok"', "a.toml: claim.holds: "),
        ('holds = "ok"', 'holds = "ok"\nverdict = true', "a.toml: claim.verdict: "),
        ('belief.zh = "信"', "", "a.toml: claim.belief.zh: "),
        ('belief.en = "B."\nbelief.zh = "信"', 'belief = "B."', "a.toml: claim.belief: "),
    ],
)
def test_an_error_names_the_file_and_the_key(tmp_path: Path, before: str, after: str, says: str) -> None:
    whole = WHOLE + CLAIM
    assert before in whole
    with pytest.raises(ScenarioError) as error:
        load_scenarios(write_scenario(tmp_path, whole.replace(before, after, 1)))
    assert str(error.value).startswith(says)


def test_a_program_needs_its_text_and_a_text_its_program(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(ScenarioError, match=r"^a\.py: there is no a\.toml"):
        load_scenarios(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "a.toml")
    with pytest.raises(ScenarioError, match=r"^a\.toml: there is no a\.py"):
        load_scenarios(tmp_path)


def test_scenarios_are_ordered_by_thread_place_and_name(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_scenario(tmp_path, WHOLE, name)
    write_scenario(tmp_path, WHOLE.replace('"views"', '"copying"').replace("3", "9"), "c")
    assert [scenario.name for scenario in load_scenarios(tmp_path)] == ["c", "a", "b"]


def test_a_program_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    with pytest.raises(ScenarioError, match=r"^a\.py: "):
        load_scenarios(tmp_path)


def test_no_scenario_of_the_gallery_lacks_its_chinese_texts() -> None:
    assert [f"{scenario.name}: {key}" for scenario in load_scenarios(FOLDER) for key in scenario.untranslated] == []
