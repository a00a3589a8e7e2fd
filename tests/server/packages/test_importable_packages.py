"""Whatever else lies in site-packages: the process that forks imports none of it, and an operator reads which package
is at fault.

The packages are written here, into a folder of PYTHONPATH. Most tests share one zygote that boots among a crowd of
them.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

from gradbox.wire.trace import Trace
from server.pool import zygote
from server.pool.zygote import PREPARE_FUNCTION, WorkersUnavailable, Zygote
from server.wire.link import WorkerOptions
from tests.forks import prepared_zygotes
from tests.server.packages.hostile_packages import (
    ABORTS,
    ENDS_ITS_THREAD,
    FORKS,
    FORKS_BELOW_OS,
    FORKS_WITH_A_TERMINAL,
    KINDS,
    PRINTS,
    STARTS_A_THREAD,
    imported,
    write_crowd,
    write_module,
)
from tests.support.workers import Workers

ROOT = Path(__file__).parents[3]
ASKED_FOR = """
IPython PIL charset_normalizer colorama cuda dask dill flax flint gmpy gmpy2 hypothesis ipywidgets jax keras monkeytype
oneflow onnx onnxruntime opt_einsum optree paddle pandas pyarrow pydot pynvml pytz redis requests rich scipy sklearn
slack_sdk tabulate tensorboard tensorflow tensorrt torchvision tree triton tvm xarray z3
"""
"""Packages that torch, numpy, sympy, networkx, einops, tqdm or pydantic import where they find them, and what those
import."""

OF_PROGRAMS = {
    "einops": "raise RuntimeError('{name} is broken')\n",
    "tqdm": PRINTS,
    "tqdm.aborts_in_a_shell": "import os\nos.system('kill -ABRT $$')\n",
    "tqdm.ends_its_thread": ENDS_ITS_THREAD,
    "tqdm.exits": KINDS["exits"],
    "tqdm.forks": FORKS,
    "tqdm.forks_below_os": FORKS_BELOW_OS,
    "tqdm.forks_with_a_terminal": FORKS_WITH_A_TERMINAL,
    "tqdm.is_interrupted": KINDS["is interrupted"],
    "tqdm.zips": "x = 1\n",
}
"""What stands in for packages that programs may import."""

PROGRAM = """\
import torch
torch.manual_seed(0)
x = torch.randn(3, 4, requires_grad=True)
y = torch.einsum("ij,kj,kl->il", x, x, torch.ones(3, 2))
print(y.detach(), torch.backends.opt_einsum.is_available())
y.sum().backward()
print(x.grad, torch.cuda.is_available(), torch.nn.Linear(2, 2)(torch.ones(2)))
"""


@contextmanager
def standard_error_in(path: Path) -> Iterator[None]:
    """Within, what is started here has this file as its standard error."""
    before = os.dup(2)
    with path.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def options(prepare: str) -> WorkerOptions:
    return WorkerOptions(1, "off", 1 << 30, 30, prepare)


def why_not_ready(folder: Path, prepare: str = "tests.server.packages.importing_worker:prepare") -> str:
    """Why no zygote boots where these packages are found; "" where one does. Its standard error is a file `errors`
    there."""

    async def boot() -> str:
        booting = Zygote(options(prepare), 60)
        with standard_error_in(folder / "errors"):
            booting.start()
            try:
                await booting.wait_until_booted()
                return ""
            except WorkersUnavailable as error:
                assert str(error) == f"the workers do not start: {booting.failure}" == booting.unavailable_reason
                return booting.failure
            finally:
                await booting.close()

    with prepared_zygotes.unused(), patch.object(zygote, "PACKAGE_FOLDERS", [str(folder)]):
        return asyncio.run(boot())


@dataclass
class Crowd:
    """Workers that have booted among many packages, the folder of these, and what came to standard error."""

    folder: Path
    workers: Workers
    printed: str

    @property
    def zygote(self) -> Zygote:
        return self.workers._pool.zygote


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    folder = tmp_path_factory.mktemp("packages")
    write_crowd(folder, ASKED_FOR.split())
    for name, code in OF_PROGRAMS.items():
        write_module(folder, name, code)
    write_module(folder, "brought_by_python", "x = 1\n")
    write_module(folder, "sitecustomize", "import brought_by_python\n")
    errors = folder / "errors"
    workers = Workers()
    with prepared_zygotes.unused(), patch.object(zygote, "PACKAGE_FOLDERS", [str(folder)]), standard_error_in(errors):
        workers.run("x = 1")
    yield Crowd(folder, workers, errors.read_text())
    workers.close()


pytestmark = pytest.mark.slow


def test_no_package_that_is_not_listed_is_imported(crowd: Crowd) -> None:
    expected = {*OF_PROGRAMS, "sitecustomize", "brought_by_python"}
    assert imported(crowd.folder).keys() == expected


def test_the_zygote_has_one_thread_with_hostile_packages_installed(crowd: Crowd) -> None:
    pid = crowd.zygote.pid
    assert len(os.listdir(f"/proc/{pid}/task")) == 1
    with open(f"/proc/{pid}/maps") as maps:
        assert not any(str(crowd.folder) in line for line in maps)


def test_hostile_packages_do_not_change_what_a_program_prints(crowd: Crowd, workers: Workers) -> None:
    def told(trace: Trace) -> list[object]:
        return [entry for step in trace.steps for entry in step.log]

    alone, among = workers.run(PROGRAM), crowd.workers.run(PROGRAM)
    assert among.outcome.status == alone.outcome.status == "finished"
    assert told(among) == told(alone) and "False" in str(told(among))


def test_a_package_that_forks_leaves_no_second_process_that_prepares_itself(crowd: Crowd) -> None:
    notes = imported(crowd.folder)
    assert set().union(*notes.values()) == {crowd.zygote.pid}
    with open(f"/proc/{crowd.zygote.pid}/task/{crowd.zygote.pid}/children") as children:
        assert len(children.read().split()) <= crowd.workers._pool.worker_count + 1


def test_what_a_package_prints_is_discarded(crowd: Crowd) -> None:
    assert "prints" not in crowd.printed and "broken" not in crowd.printed


def test_importing_a_package_that_failed_to_load_says_that_it_is_missing(crowd: Crowd) -> None:
    trace = crowd.workers.run("import einops")
    assert trace.outcome.error is not None
    assert (trace.outcome.error.type, trace.outcome.error.message) == (
        "ModuleNotFoundError",
        "No module named 'einops'",
    )
    assert crowd.workers.run("import tqdm").outcome.status == "finished"


@pytest.mark.parametrize("name", ["pandas", "triton", "brought_by_python", "sitecustomize"])
def test_a_package_that_is_not_listed_is_as_if_not_installed(name: str, tmp_path: Path) -> None:
    write_crowd(tmp_path, ["pandas", "triton", "einops"])
    write_module(tmp_path, "brought_by_python", "x = 1\n")
    write_module(tmp_path, "sitecustomize", "import brought_by_python\n")
    code = f"""
import importlib.metadata, importlib.util, sys
if {name!r} in ("pandas", "triton"):
    assert importlib.util.find_spec({name!r}) and importlib.metadata.version({name!r}) == "9.9"
from server.worker.importable_packages import restrict_imports
restrict_imports()
assert {name!r} not in sys.modules and importlib.util.find_spec({name!r}) is None
assert importlib.util.find_spec("einops") and importlib.metadata.version("einops") == "9.9"
assert importlib.metadata.version("typing-extensions") == importlib.metadata.version("typing.Extensions")
hostile = [point.value for point in importlib.metadata.entry_points(name="hostile")]
assert set(hostile) == {{"einops:hook"}}, hostile
try:
    importlib.metadata.version({name!r})
except importlib.metadata.PackageNotFoundError as error:
    print(error)
import {name}
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert result.stdout == f"No package metadata was found for {name}\n", result.stderr
    assert result.stderr.endswith(f"ModuleNotFoundError: No module named '{name}'\n")
    assert not {"pandas", "triton"} & imported(tmp_path).keys()


def test_setuptools_finds_the_distutils_that_it_carries() -> None:
    """From Python 3.12 on there is no other."""
    code = "from server.worker.importable_packages import restrict_imports; restrict_imports(); import setuptools.dist"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_hostile_packages_of_these_tests_are_hostile(kind: str, tmp_path: Path) -> None:
    """Or the tests above would show nothing."""
    write_module(tmp_path, "pandas", KINDS[kind])
    code = (
        "import os, threading\nmine = os.getpid()\nimport pandas\n"
        "os.write(1, f'{threading.active_count()} {os.getpid() == mine}\\n'.encode())"  # whole, beside another process's  # noqa: E501
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    told = {
        "starts a thread": "2 True",
        "raises ImportError": "ImportError: pandas is broken",
        "raises RuntimeError": "RuntimeError: pandas is broken",
        "exits": "pandas is broken",
        "is interrupted": "KeyboardInterrupt",
        "prints": "pandas prints",
        "forks": "1 False",
        "aborts": "",
    }
    assert told[kind] in result.stdout + result.stderr and "pandas" in imported(tmp_path)
    assert (result.returncode == 0) == (kind in ("starts a thread", "prints", "forks"))


def test_a_package_of_programs_that_keeps_a_thread_is_named(tmp_path: Path) -> None:
    write_module(tmp_path, "einops", STARTS_A_THREAD)
    write_module(tmp_path, "einops.layers", "")
    assert why_not_ready(tmp_path, PREPARE_FUNCTION) == (
        "the process that forks has a second thread, 'einops-bg', started by import einops; "
        "remove einops from Gradbox's environment or update it"
    )


def test_a_thread_that_ends_by_itself_does_no_harm(tmp_path: Path) -> None:
    write_module(tmp_path, "einops", ENDS_ITS_THREAD)
    assert why_not_ready(tmp_path) == ""


def test_a_package_that_crashes_is_named_in_the_standard_error(tmp_path: Path) -> None:
    write_module(tmp_path, "einops", ABORTS)
    assert why_not_ready(tmp_path) == (
        "the process that forks them was killed by signal 6 (SIGABRT); its traceback is in this server's standard error"
    )
    assert f'File "{tmp_path}/einops/__init__.py", line 5 in <module>' in (tmp_path / "errors").read_text()


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("raises RuntimeError", "RuntimeError: einops is broken"),
        ("exits", "SystemExit: einops is broken"),
        ("is interrupted", "KeyboardInterrupt"),
    ],
)
def test_an_error_of_a_required_package_is_reported_with_its_place(kind: str, reason: str, tmp_path: Path) -> None:
    write_module(tmp_path, "einops", KINDS[kind])
    line = len((tmp_path / "einops/__init__.py").read_text().splitlines())
    assert why_not_ready(tmp_path) == f"{reason} ({tmp_path}/einops/__init__.py, line {line})"


def test_a_thread_started_with_python_is_reported_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_module(tmp_path, "einops", "")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    packages = next(venv.glob("lib/python*/site-packages"))
    own = [folder for folder in sys.path if folder.endswith("-packages")]
    (packages / "calm.pth").write_text("\n".join(own))
    (packages / "hostile.pth").write_text(STARTS_A_THREAD.strip().replace("\n", "; ").replace("{name}-", "") + "\n")
    monkeypatch.setattr(sys, "executable", str(venv / "bin/python"))
    assert why_not_ready(tmp_path) == (
        "the process that forks has 3 threads, 'bg' and 'bg', "  # Python reads it twice in a virtual environment
        f"started by what Python runs when it starts ({packages}/hostile.pth); "
        "remove that file, or the package that it belongs to, from Gradbox's environment"
    )
