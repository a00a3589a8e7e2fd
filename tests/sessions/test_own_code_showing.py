"""Where the picture of a region goes that names no file; and what is said where a file can't be written."""

from pathlib import Path

import pytest

import gradbox
from gradbox import showing
from gradbox.region import watch
from gradbox.run import Run, check_save_path
from gradbox.showing import can_open_browser

GOLDEN = Path(__file__).parents[1] / "golden/saved_then_written.json"


@pytest.fixture
def run() -> Run:
    return Run(GOLDEN.read_bytes(), "train.py: step 3 / 4")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Addresses that were to be opened, by a process of its own at a desktop's terminal, in an empty folder."""
    addresses: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(showing, "PYTEST_VARIABLE", "NAME_OF_NO_VARIABLE")
    monkeypatch.setattr(showing, "picture_paths", set())
    monkeypatch.setattr(showing, "is_stdout_terminal", lambda: True)
    monkeypatch.setattr(showing, "can_open_browser", lambda *_, **__: True)
    monkeypatch.setattr(showing, "open_in_browser", lambda address: bool(addresses.append(address)))
    return addresses


def test_a_region_is_written_and_the_first_is_opened(
    run: Run, opened: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gradbox-train.py-step-3-4.html"
    showing.show_recorded_region(run)
    showing.show_recorded_region(run)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text().startswith("<!doctype html>") and opened == [path.as_uri()]
    assert capsys.readouterr().err.count(f"Written to {path}\n") == 2


def test_a_process_writes_so_many_and_says_so(
    run: Run, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(showing, "MAX_PICTURES", 2)
    for k in range(4):
        run.title = f"step {k}"
        showing.show_recorded_region(run)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["gradbox-step-0.html", "gradbox-step-1.html"]
    assert capsys.readouterr().err.endswith("Later regions are not written: name a file with out=.\n")
    assert len(opened) == 1


def test_without_a_terminal_nothing_is_opened_and_under_pytest_nothing_is_written(
    run: Run, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "is_stdout_terminal", lambda: False)
    showing.show_recorded_region(run)
    assert opened == [] and len(list(tmp_path.iterdir())) == 1
    monkeypatch.setenv(showing.PYTEST_VARIABLE, "a test")
    run.title = "another"
    showing.show_recorded_region(run)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_can_not_be_written_does_not_end_the_program(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.html").mkdir()
    assert not showing.write_run_and_report(run, tmp_path / "x.html")
    assert "x.html could not be written: Is a directory" in capsys.readouterr().err
    with pytest.raises(ValueError, match="ends with"):
        check_save_path(tmp_path / "x.pdf")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        watch(out=tmp_path / "nowhere/x.html")


@pytest.mark.parametrize(
    ("environment", "platform", "of_address", "of_file"),
    [
        ({"DISPLAY": ":0"}, "linux", True, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True, True),
        ({}, "linux", False, False),
        ({}, "darwin", True, True),
        ({"SSH_CONNECTION": "1 2 3 4", "DISPLAY": "localhost:10"}, "linux", False, False),
        ({"SSH_CONNECTION": "1 2 3 4", "BROWSER": "code --open"}, "linux", True, False),
        ({"CI": "true", "DISPLAY": ":99"}, "linux", False, False),
    ],
)
def test_the_environment_tells_whether_a_browser_can_open(
    environment: dict[str, str], platform: str, of_address: bool, of_file: bool
) -> None:
    assert can_open_browser(environment, platform) is of_address
    assert can_open_browser(environment, platform, of_file=True) is of_file


def test_no_module_of_the_package_hides_what_it_offers() -> None:
    """An imported module becomes an attribute of its package: `gradbox.watch` was one after `%load_ext gradbox`."""
    folder = Path(gradbox.__file__).parent
    modules = {path.stem for path in [*folder.glob("*.py"), *folder.glob("*/__init__.py")]}
    modules |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert modules.isdisjoint(gradbox.MODULE_OF_LAZY_NAME)
    assert modules >= {name.partition(".")[0] for name in gradbox.MODULE_OF_LAZY_NAME.values()}
