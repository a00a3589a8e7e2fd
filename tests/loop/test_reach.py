"""A change reaches the tests that need it: by imports, by strings, by folders; what can't be placed is said."""

import subprocess
from pathlib import Path

import pytest

from tests.loop.quick import ROOT, choose, described
from tests.loop.reach import Graph, changed_files, checkout_files

FILES = {
    "gradbox/one.py": "X = 1\n",
    "gradbox/two.py": "from gradbox import one\n",
    "server/host.py": "import gradbox.two\n",
    "static/js/main.ts": 'import { mark } from "./marks/mark.ts";\n',
    "static/js/marks/mark.ts": "export const mark = 1;\n",
    "static/css/all.css": '@import "./base/page.css";\n',
    "static/css/base/page.css": "",
    "static/js/tests/mark.test.ts": 'import "../marks/mark.ts";\n',
    "templates/base.html": '<script src="static/dist/main.js"></script>\n',
    "tests/examples/silent/clamp.py": "import gradbox.one\n",
    "tests/support/recording.py": 'HOST = ["python", "-m", "server.host"]\n',
    "tests/test_two.py": "import gradbox.two\n",
    "tests/test_far.py": "from tests.support import recording\n",
    "tests/test_page.py": 'from pathlib import Path\nT = Path(__file__).parent.parent / "templates"\nS = "static/css/all.css"\n',  # noqa: E501
    "tests/test_silent.py": 'from pathlib import Path\nF = Path(__file__).parent / "examples" / "silent"\n',
    "LICENSE": "",
    "NEWS.md": "",
}


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Graph(tmp_path, frozenset(FILES))


@pytest.mark.parametrize(
    "changed, reached",
    [
        ("gradbox/one.py", ["tests/test_two.py", "tests/test_far.py"]),
        ("server/host.py", ["tests/test_far.py"]),
        ("static/js/marks/mark.ts", ["static/js/tests/mark.test.ts", "tests/test_page.py"]),
        ("static/css/base/page.css", ["tests/test_page.py"]),
        ("templates/new.html", ["tests/test_page.py"]),
        ("tests/examples/silent/clamp.py", ["tests/test_silent.py"]),
        ("LICENSE", []),
    ],
)
def test_tests_that_depend_on_a_file_are_reached(graph: Graph, changed: str, reached: list[str]) -> None:
    assert [test.file for test in graph.reached_tests(changed)] == reached


def test_the_report_shows_the_path_to_a_test(graph: Graph) -> None:
    choice = choose(graph, ["gradbox/one.py", "NEWS.md"], {}, 100)
    said = described(choice, ["gradbox/one.py", "NEWS.md"])
    assert (
        "runs  tests/test_far.py: tests/support/recording.py <- server/host.py <- gradbox/two.py <- gradbox/one.py"
        in said
    )
    assert "no test reads NEWS.md" in said


def test_only_the_nearest_run_where_there_is_no_time_for_all(graph: Graph) -> None:
    choice = choose(graph, ["gradbox/one.py"], {"tests/test_two.py": 8.0, "tests/test_far.py": 8.0}, 10)
    assert ([test.file for test in choice.chosen], [test.file for test in choice.left]) == (
        ["tests/test_two.py"],
        ["tests/test_far.py"],
    )
    assert "left to make test, for they are further away and there is no time: tests/test_far.py" in described(
        choice, ["gradbox/one.py"]
    )


def test_a_changed_program_narrows_a_file_of_tests_and_code_does_not(graph: Graph) -> None:
    program = "tests/examples/silent/clamp.py"
    assert choose(graph, [program], {}, 100).narrowed == {"tests/test_silent.py": ["clamp"]}
    assert choose(graph, [program, "tests/test_silent.py"], {}, 100).narrowed == {}


def test_a_file_that_nothing_names_is_not_placed(graph: Graph) -> None:
    assert choose(graph, ["LICENSE", "NEWS.md"], {}, 100).unplaced == ["LICENSE"]


def test_a_change_is_what_is_committed_since_the_base_and_what_is_not(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@t", *arguments], cwd=tmp_path, check=True)

    git("init", "-q", "-b", "main")
    for name in ("kept.py", "committed.py", "edited.py"):
        (tmp_path / name).write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    git("checkout", "-qb", "branch")
    (tmp_path / "committed.py").write_text("2\n")
    git("commit", "-qam", "second")
    (tmp_path / "edited.py").write_text("2\n")
    (tmp_path / "new.py").write_text("2\n")
    assert changed_files(tmp_path, None) == ["committed.py", "edited.py", "new.py"]
    assert changed_files(tmp_path, "HEAD") == ["edited.py", "new.py"]
    with pytest.raises(ValueError, match="nowhere"):
        changed_files(tmp_path, "nowhere")


@pytest.fixture(scope="module")
def checkout() -> Graph:
    return Graph(ROOT, checkout_files(ROOT))


@pytest.mark.parametrize(
    "changed, among_the_nearest",
    [
        ("static/js/findings/memory/index_copy.ts", "tests/findings/test_silent_findings.py"),
        ("static/locales/findings/activation_twice.json", "tests/findings/test_finding_words.py"),
        ("gradbox/recorder/observer.py", "tests/recorder/test_observer.py"),
        ("static/css/base/tokens.css", "tests/page/test_page.py"),
        ("tests/examples/silent/data_clamp.py", "tests/findings/test_silent_findings.py"),
        ("scenarios/clone.py", "tests/gallery/test_scenario_files.py"),
        ("server/store/database.py", "tests/server/store/test_store.py"),
        ("templates/base.html", "tests/page/test_page.py"),
    ],
)
def test_the_graph_of_this_checkout_leads_to_what_tests_a_file(
    checkout: Graph, changed: str, among_the_nearest: str
) -> None:
    assert changed in checkout.files, "it has moved: name another"
    assert among_the_nearest in [test.file for test in checkout.reached_tests(changed)][:60]
