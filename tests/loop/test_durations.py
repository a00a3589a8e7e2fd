"""The durations of a run are written, merged with those of earlier runs, and order the files of the next."""

import json
import subprocess
import sys
from pathlib import Path

from tests.loop.durations import last_durations, longest_first, seconds_by_file, table

ROOT = Path(__file__).parents[2]


def write_run(folder: Path, name: str, tests: dict[str, float]) -> None:
    folder.mkdir(exist_ok=True)
    run = {
        "arguments": [],
        "processes": 1,
        "seconds": 1.0,
        "tests": {test: {"call": took} for test, took in tests.items()},
    }
    (folder / name).write_text(json.dumps(run))


def test_a_run_writes_the_phases_of_its_tests(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from pathlib import Path\nfrom tests.loop.durations import DurationsWriter\n"
        "def pytest_configure(config):\n"
        "    config.pluginmanager.register(DurationsWriter(config, Path(__file__).parent / 'kept'))\n"
    )
    (tmp_path / "test_it.py").write_text("import time\ndef test_sleeps():\n    time.sleep(0.05)\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    (path,) = (tmp_path / "kept").glob("*-small-*.json")
    (phases,) = json.loads(path.read_text())["tests"].values()
    assert phases["call"] >= 0.05 and {"setup", "call", "teardown"} == phases.keys()


def test_a_later_run_counts_and_files_that_are_gone_do_not(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").touch()
    write_run(tmp_path / "kept", "1-large-1.json", {"tests/test_a.py::one": 9.0, "tests/test_a.py::two": 1.0})
    write_run(tmp_path / "kept", "2-small-1.json", {"tests/test_a.py::one": 2.0, "tests/test_gone.py::one": 5.0})
    assert seconds_by_file(last_durations(tmp_path / "kept", tmp_path)) == {"tests/test_a.py": 3.0}


def test_files_are_ordered_by_a_whole_run_and_else_as_they_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "longest.txt"
    kept.write_text("tests/test_b.py\n")
    here, other = "tests/loop/test_durations.py", "tests/loop/test_reach.py"
    write_run(tmp_path, "1-small-1.json", {f"{here}::one": 9.0})
    assert longest_first(tmp_path, kept) == ["tests/test_b.py"]
    write_run(tmp_path, "2-large-1.json", {f"{other}::one": 12.0})
    assert longest_first(tmp_path, kept) == [other, here]


def test_every_file_of_the_kept_order_exists() -> None:
    kept = (ROOT / "tests/longest.txt").read_text().split()
    assert len(kept) > 30 and [file for file in kept if not (ROOT / file).is_file()] == []


def test_the_table_adds_up_rooms_and_files() -> None:
    tests = {
        "tests/wire/test_a.py::one": {"setup": 1.0, "call": 2.0, "teardown": 0.5},
        "tests/wire/test_b.py::one": {"call": 1.0},
    }
    rows = [line.split() for line in table(tests).splitlines()]
    assert ["4.5", "1.0", "3.0", "0.5", "2", "wire"] in rows
    assert ["1.0", "0.0", "1.0", "0.0", "1", "tests/wire/test_b.py"] in rows
    assert rows[-1] == ["4", "s", "in", "2", "tests"]
