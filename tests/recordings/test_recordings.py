"""Recordings that are kept between runs: what they depend on, when they are made anew, and how one that is wrong is
noticed."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.recordings import store
from tests.recordings.store import RECORDS, ROOT, Recordings, prune, repeatable_text

PROGRAMS = ("x = 1\n", "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\ny.sum().backward()\n")

LOADED = """
import json, os, sys
root, programs = os.getcwd(), json.loads(sys.argv[1])
opened = set()
def note_opened(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        opened.add(arguments[0])
sys.addaudithook(note_opened)
import torch
torch.set_num_threads(1)
from server.worker.prepare import run_warm_up_program
from server.worker.program_run import run_program_and_exit
from server.worker.threads import run_in_thread
from tests.forks import recorder_host, torch_host
from tests.forks.fork_host import forked
run_in_thread(run_warm_up_program)
def act(program, write):
    def end(line):
        if line.startswith(b'{"outcome"'):
            modules = {module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)}
            write(json.dumps([path for path in modules | opened if path.startswith(f"{root}/")]).encode())
    run_program_and_exit(program, end)
found = {path for program in programs for path in json.loads(forked(lambda write: act(program, write)))}
print(json.dumps(sorted(os.path.relpath(path, root) for path in found)))
"""
"""Prints the project's files that a process has imported or opened when it has recorded programs."""


@pytest.mark.slow
def test_every_file_that_a_recording_loads_is_in_the_hash_and_every_folder_of_the_hash_is_loaded() -> None:
    programs = [
        *({"source": source} for source in PROGRAMS),
        {"source": PROGRAMS[1], "check": {"elements": 2}},
        {"source": PROGRAMS[1], "check": {"elements": 1, "samples": True}},
        {"source": "import torch\nimport pandas as pd\nx = torch.load('x.pt')\n"},
        {"source": ">>> import torch\n>>> torch.ones(2)\ntensor([1., 1.])\n"},
        {"source": "import socket\n"},
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOADED, json.dumps(programs)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    own = ("gradbox/", "server/", "tests/", "static/", "scenarios/")
    loaded = {name for name in json.loads(done.stdout) if name.startswith(own) and not name.endswith(".pyc")}
    hashed = {path.relative_to(ROOT).as_posix() for path in store.files_that_record()}
    assert sorted(loaded - hashed) == []
    assert [name for name in RECORDS if not any(path == name or path.startswith(f"{name}/") for path in loaded)] == []


COUNTED = """
import json, sys
from tests.recordings import store
made = []
record = store.recorded_document
def counted(source, **job):
    made.append(source)
    return record(source, **job)
store.recorded_document = counted
documents = [store.kept_document(source) for source in json.loads(sys.argv[1])]
assert all(b'"finished"' in document for document in documents)
assert store.__file__.startswith(sys.argv[2]), store.__file__
print(len(made))
"""
"""Prints how many of some programs are recorded, and not read."""


def count_recorded(checkout: Path) -> int:
    command = [sys.executable, "-c", COUNTED, json.dumps(PROGRAMS), str(checkout)]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "RECORDINGS_CHECKED": str(10**12)}
    environment = {name: value for name, value in environment.items() if name not in ("RECORDINGS", "RECORDER_HOST")}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.slow
def test_a_line_of_the_recorder_makes_everything_anew_and_one_of_a_finding_nothing(tmp_path: Path) -> None:
    without = shutil.ignore_patterns("__pycache__", "dist", "golden", "examples")
    for folder in ("gradbox", "server", "static", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=without)
    assert count_recorded(tmp_path) == len(PROGRAMS)
    for name in ("static/js/findings/grad_none.ts", "static/locales/findings.en.json", "tests/support/explaining.py"):
        path = next((tmp_path / name.split("/", 1)[0]).rglob(Path(name).name))
        path.write_text(path.read_text() + "\n")
    assert count_recorded(tmp_path) == 0
    values = tmp_path / "gradbox/recorder/value_encoder.py"
    values.write_text(values.read_text() + "# changed\n")
    assert count_recorded(tmp_path) == len(PROGRAMS)
    assert count_recorded(tmp_path) == 0


def document_of(source: str, value: int = 0) -> bytes:
    step = {"set": {"s1": {"kind": "storage", "cells": {"float32": [value]}}}}
    return json.dumps({"program": source, "steps": [step], "outcome": {"status": "finished"}, "cost": value}).encode()


class Recorder:
    """Makes documents, and counts them. value: of the cell that no tensor reads; cost: of the run."""

    def __init__(self) -> None:
        self.count = 0
        self.printed = ""

    def __call__(self, source: str, **job: object) -> bytes:
        self.count += 1
        document = json.loads(document_of(source, self.count))
        return json.dumps({**document, "printed": self.printed, "job": job}).encode()


def kept(folder: Path, recorder: Recorder, share: int = 10**12, state: str = "a state") -> Recordings:
    return Recordings(folder, state, recorder, "a seed", share)


def test_a_program_is_recorded_once_for_each_state_and_options(tmp_path: Path) -> None:
    recorder = Recorder()
    first = kept(tmp_path, recorder).document("x = 1\n")
    assert kept(tmp_path, recorder).document("x = 1\n") == first and recorder.count == 1
    assert b'"seed": 1' in kept(tmp_path, recorder).document("x = 1\n", seed=1) and recorder.count == 2
    kept(tmp_path, recorder, state="another").document("x = 1\n")
    kept(tmp_path, recorder).document("x = 2\n")
    assert recorder.count == 4


def test_missing_recordings_are_made_together(tmp_path: Path) -> None:
    recorder = Recorder()
    programs = [f"x = {k}\n" for k in range(20)]
    kept(tmp_path, recorder).document(programs[3])
    kept(tmp_path, recorder).fill([*programs, *programs])
    assert recorder.count == 20
    assert [json.loads(kept(tmp_path, recorder).document(source))["program"] for source in programs] == programs
    assert recorder.count == 20


def test_time_and_memory_that_nothing_reads_may_differ_and_nothing_else(tmp_path: Path) -> None:
    recorder = Recorder()
    first = kept(tmp_path, recorder).document("x = 1\n")
    checked = kept(tmp_path, recorder, share=1)
    assert checked.document("x = 1\n") == first and recorder.count == 2
    recorder.printed = "2"
    with pytest.raises(AssertionError, match=r'(?s)RECORDINGS_SEED=a seed.*-  *"printed": ""\n?.*\+  *"printed": "2"'):
        checked.document("x = 1\n")


def test_memory_that_a_tensor_reads_is_compared() -> None:
    tensor = {"storage": "s1", "dtype": "float32", "shape": [2, 1], "stride": [2, 1], "offset": 1}
    cells = {"s1": {"cells": {"float32": [10, 11, 12, 13]}}, "s2": {"cells": {"float32": [14]}}}
    steps = [{"set": cells}, {"set": {"t1": tensor}}, {"set": {"s1": {"cells_at": {"float32": {"0": 20, "3": 23}}}}}]
    compared = repeatable_text(json.dumps({"steps": steps}).encode())
    assert [number for number in (10, 11, 12, 13, 14, 20, 23) if str(number) in compared] == [11, 13, 23]


def test_the_share_that_is_checked_changes_with_the_seed(tmp_path: Path) -> None:
    programs = [f"x = {k}\n" for k in range(200)]
    recorder = Recorder()
    kept(tmp_path, recorder).fill(programs)
    checked = []
    for seed in ("one", "two"):
        for source in programs:
            before = recorder.count
            Recordings(tmp_path, "a state", recorder, seed, 8).document(source)
            checked += [(seed, source)] * (recorder.count - before)
    one, two = ({source for by, source in checked if by == seed} for seed in ("one", "two"))
    assert 5 < len(one) < 60 and 5 < len(two) < 60 and one != two


@pytest.mark.parametrize(
    "damage", [b"", b"no gzip", gzip.compress(b"{}" * 99)[:-9]], ids=["empty", "no gzip", "cut off"]
)
def test_a_damaged_recording_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    recorder = Recorder()
    kept(tmp_path, recorder).document("x = 1\n")
    (path,) = (tmp_path / "a state").iterdir()
    path.write_bytes(damage)
    again = kept(tmp_path, recorder).document("x = 1\n")
    assert recorder.count == 2 and kept(tmp_path, recorder).document("x = 1\n") == again
    assert recorder.count == 2


def test_a_program_that_is_not_repeatable_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "NOT_KEPT", ((r"time\.time\(\)", "it prints the time"),))
    recorder = Recorder()
    several = kept(tmp_path, recorder)
    several.fill(["print(time.time())\n"])
    assert recorder.count == 0
    several.document("print(time.time())\n")
    several.document("print(time.time())\n")
    assert recorder.count == 2 and not [*tmp_path.iterdir()]


def test_many_may_write_and_read_at_the_same_time(tmp_path: Path) -> None:
    document = b'{"long": "%s"}' % (b"x" * 300_000)
    stores = [Recordings(tmp_path, "a state", lambda _: document, "a seed", 10**12) for _ in range(8)]
    read: list[bytes] = []
    threads = [threading.Thread(target=lambda one=one: read.extend([one.document("x")] * 5)) for one in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [document] * 40
    assert len([*(tmp_path / "a state").iterdir()]) == 1


def test_the_longest_unused_states_and_recordings_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        folder = tmp_path / f"state {number}"
        folder.mkdir()
        for k in range(2):
            (folder / f"{k}.json.gz").write_bytes(b"x" * 100)
            os.utime(folder / f"{k}.json.gz", (1000 + number, 1000 + number + k / 2))
    prune(tmp_path, tmp_path / "state 0")
    kept_states = sorted(path.name for path in tmp_path.iterdir())
    assert kept_states == ["state 0", "state 4", "state 5", "state 6", "state 7", "state 8"]
    monkeypatch.setattr(store, "BYTES_KEPT", 350)
    prune(tmp_path, tmp_path / "state 0")
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.gz")) == [
        "state 0/0.json.gz",
        "state 0/1.json.gz",
        "state 8/1.json.gz",
    ]


READ_NOTHING_KEPT = ("agreement", "determinism", "displayhook", "goldens", "isolation", "lifetimes", "observer", "own_code_session",  # noqa: E501
                     "random", "recorded_trace", "recorder", "recording_work", "referee", "replacements", "thinning", "traps",  # noqa: E501
                     "uninitialized")  # fmt: skip
"""The tests of the recorder itself: a recording of theirs is made in the same run."""


def test_tests_of_the_recorder_use_no_stored_recordings() -> None:
    files = {path.stem: path for path in (ROOT / "tests").rglob("test_*.py")}
    texts = {name: files[f"test_{name}"].read_text() for name in READ_NOTHING_KEPT}
    assert [name for name, text in texts.items() if "tests.recordings" in text or "findings_of(" in text] == []
