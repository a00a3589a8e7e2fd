"""Files in memory: the bytes are those that torch writes, a loaded tensor has memory of its own, no file of the machine
is seen."""

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from server.worker.files.archives import archive_name, rename_archive
from server.worker.files.open_files import are_open_arguments_valid
from tests.support.tracing import Replay, printed, trace

CONTENTS = {
    "a tensor": torch.arange(5.0),
    "shared": [base := torch.ones(3, 4), base[1:], {"n": 1}],
    "nothing": {},
    "a module's state": nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).state_dict(),
    "many": [torch.full((k,), k) for k in range(1, 70)],
}
NAMES = [
    "model.pt",
    "a",
    "checkpoint_with_a_very_long_name_of_more_than_64_letters_in_all_of_it.epoch_3.pth",
    "archive.pt",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contents", CONTENTS)
def test_an_archive_has_the_bytes_that_torch_writes(contents: str, name: str, tmp_path: Path) -> None:
    value = CONTENTS[contents]
    torch.save(value, tmp_path / name)
    torch.save(value, buffer := _Buffer())  # type: ignore[arg-type]
    assert rename_archive(buffer.data, archive_name(name), 64) == (tmp_path / name).read_bytes()


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_a_scripted_module_has_the_bytes_that_torch_writes(tmp_path: Path) -> None:
    module = torch.jit.script(nn.Linear(2, 3))
    module.save(str(tmp_path / "m.ts"))
    written, made = (tmp_path / "m.ts").read_bytes(), rename_archive(module.save_to_buffer(), b"m", 64)
    (tmp_path / "made.ts").write_bytes(made)
    sizes = [[(entry.filename, entry.file_size) for entry in zipfile.ZipFile(tmp_path / name).infolist()]
             for name in ("m.ts", "made.ts")]  # fmt: skip
    assert sizes[0] == sizes[1]
    assert len(made) == len(written)


class _Buffer:
    """What torch writes to."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> int:
        self.data += bytes(data)
        return len(data)

    def flush(self) -> None:
        pass


def test_a_loaded_tensor_has_memory_of_its_own() -> None:
    recorded = trace(
        "import torch\nx = torch.arange(4.)\nv = x[1:]\ntorch.save([x, v], 'x.pt')\ny, w = torch.load('x.pt')\ny[1] = "
        "9.\n"
    )
    replay = Replay(recorded)
    assert replay["x"]["storage"] == replay["v"]["storage"]
    assert replay["y"]["storage"] == replay["w"]["storage"] != replay["x"]["storage"]
    assert replay.cells("x") == [0, 1, 2, 3]
    assert replay.cells("y") == [0, 9, 2, 3]
    assert [replay.version(name) for name in "xvyw"] == [0, 0, 2, 1]  # `set_` gave both memory, each its own counter


def test_a_program_sees_no_file_of_the_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cr3t")
    recorded = trace(
        f"""
import os, pathlib
print(os.getcwd(), os.listdir("."), os.listdir("/"))
for attempt in (
    lambda: open({str(secret)!r}),
    lambda: os.stat({str(secret)!r}),
    lambda: os.listdir({str(tmp_path)!r}),
    lambda: open("/etc/passwd"),
    lambda: open("/proc/self/mem", "rb"),
    lambda: os.open({str(secret)!r}, os.O_RDONLY),
    lambda: pathlib.Path({str(secret)!r}).read_text(),
):
    try:
        print(attempt())
    except FileNotFoundError:
        print("absent")
os.makedirs({str(tmp_path)!r})
open({str(tmp_path / "made")!r}, "w").write("x")
open({str(secret)!r}, "w").write("mine")
print(open({str(secret)!r}).read())
"""
    )
    lines = printed(recorded).splitlines()
    assert lines == ["/home/learner [] ['home', 'tmp', 'dev']", *["absent"] * 7, "mine"]
    assert secret.read_text() == "s3cr3t"
    assert os.listdir(tmp_path) == ["secret"]


def test_what_a_run_wrote_is_gone_after_it() -> None:
    source = "import os\nprint(os.listdir('.'))\nopen('x', 'w').write('x')\nprint(os.listdir('.'))\n"
    assert [printed(trace(source)) for _ in range(2)] == ["[]\n['x']\n"] * 2


def test_the_profiler_writes_its_trace_there() -> None:
    source = (
        "import json\nimport torch\nfrom torch.profiler import ProfilerActivity, profile\n"
        "with profile(activities=[ProfilerActivity.CPU]) as prof:\n    torch.ones(2) @ torch.ones(2)\n"
        "prof.export_chrome_trace('trace.json')\n"
        "print('aten::dot' in {event['name'] for event in json.load(open('trace.json'))['traceEvents']})\n"
    )
    assert printed(trace(source)) == "True\n"


@pytest.mark.slow
def test_a_file_too_big_for_the_run_stops_it(workers: Any) -> None:
    outcome = workers.run("f = open('x', 'wb')\nwhile True:\n    f.write(bytes(1 << 26))\n").outcome
    assert outcome.status == "stopped"
    assert outcome.stopped.limit == "memory"


@pytest.mark.parametrize("mode", ["r", "w", "x", "a", "rb", "br", "rt", "r+", "+r", "w+b", "ab+", "b+x", "tw", "", "b", "q",  # noqa: E501
                                  "rw", "rr", "r++", "rbt", "+", "ra", "rU", "wx"])  # fmt: skip
def test_open_accepts_the_modes_that_python_accepts(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    if "x" not in mode:
        path.touch()
    try:
        open(path, mode).close()
        valid = True
    except ValueError:
        valid = False
    assert are_open_arguments_valid(mode, -1, None, None, None) == valid
