"""`gradbox doctor`: checks whether this machine can record, show and explain scripts, notebooks and tests."""

import argparse
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from gradbox import __version__
from gradbox.installation import STATIC_FOLDER
from gradbox.run import Run
from gradbox.script.script_process import Script, record_script
from gradbox.showing import can_open_browser

TIMEOUT = 120.0
SMALL_SCRIPT = "import torch\nx = torch.ones(3, requires_grad=True)\ny = (x * 2).sum()\ny.backward()\n"
TORCH_QUERY_CODE = """\
import json, torch
can_ask = hasattr(torch._C._autograd.SavedTensor, "unpack_hook")
devices = [torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
print(json.dumps({"version": torch.__version__, "can_ask": can_ask, "devices": devices}))
"""
NO_TORCH_ADVICE = "pip install torch; see https://pytorch.org for the build that fits"
TORCH_TOO_OLD_MESSAGE = "torch 2.11 or later is needed: older ones can't be asked what autograd saved"


class CheckResult(NamedTuple):
    """A line of the report.

    problem: why nothing can be recorded, drawn or explained; "" if it prevents nothing
    """

    name: str
    value: str
    problem: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def print_report(args: argparse.Namespace) -> int:
    """Print the report and return the exit status: 0 if scripts can be recorded, drawn and explained."""
    checks = list(run_all_checks())
    said = readiness_line(checks)
    is_ready = not any(check.problem for check in checks)
    if args.json:
        print(json.dumps({"ready": is_ready, "verdict": said, "checks": [check._asdict() for check in checks]}))
        return int(not is_ready)
    width = max(len(check.name) for check in checks) + 2
    for name, value, problem in checks:
        print(f"{'!' if problem else ' '} {name:{width}}{value}" + (f"  ({problem})" if problem else ""))
    print(f"\n{said}")
    return int(not is_ready)


def readiness_line(checks: list[CheckResult]) -> str:
    """Return the last line of the report."""
    problems = [f"{check.name}: {check.problem}" for check in checks if check.problem]
    if problems:
        return f"Verdict: not ready, because {'; '.join(problems)}"
    return "Verdict: ready to record, show and explain scripts, notebooks and tests of this machine"


def run_all_checks() -> Iterator[CheckResult]:
    yield CheckResult("gradbox", f"{__version__}, {Path(__file__).parent}")
    yield CheckResult("python", f"{platform.python_version()}, {sys.executable}")
    torch = query_torch()
    yield from torch_checks(torch)
    built = (STATIC_FOLDER / "dist/exports.js").is_file()
    yield CheckResult("page", "built" if built else "missing", "" if built else "build it with `make build`")
    if built and torch is not None and torch.get("can_ask"):
        yield from recording_checks()
    yield from display_and_folder_checks()
    yield from notebook_and_pytest_checks()


def query_torch() -> dict[str, Any] | None:
    """Ask another process about torch. Returns {"error": …} if that fails, None if torch is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    try:
        done = subprocess.run([sys.executable, "-c", TORCH_QUERY_CODE], capture_output=True, text=True, timeout=TIMEOUT)
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"error": f"importing it took more than {TIMEOUT:.0f} seconds"}
    except (IndexError, ValueError):
        return {"error": (done.stderr.strip().splitlines() or ["importing it ended the process"])[-1][:200]}
    return answer


def torch_checks(torch: dict[str, Any] | None) -> Iterator[CheckResult]:
    """Return the lines about torch: its version, whether autograd can be observed, and the GPUs that it can use.

    torch: what `query_torch` returned
    """
    if torch is None:
        yield CheckResult("torch", "none", NO_TORCH_ADVICE)
    elif "error" in torch:
        yield CheckResult("torch", "can't be imported", torch["error"])
    else:
        yield CheckResult("torch", torch["version"])
        yield CheckResult(
            "autograd",
            "can be asked" if torch["can_ask"] else "can't be asked",
            "" if torch["can_ask"] else TORCH_TOO_OLD_MESSAGE,
        )
        yield CheckResult("GPU", ", ".join(torch["devices"]) or "none that torch can use")


def recording_checks() -> Iterator[CheckResult]:
    """Record a small script and explain it."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="gradbox-doctor-") as folder:
        path = Path(folder) / "small.py"
        path.write_text(SMALL_SCRIPT)
        try:
            recorded: Run | None = record_script(Script(str(path), quiet=True)).runs.get("")
        except (OSError, ValueError) as error:
            yield CheckResult("recording", "failed", str(error))
            return
    if recorded is None or recorded.trace["outcome"]["status"] != "finished":
        yield CheckResult(
            "recording",
            "failed",
            "the small script was not recorded to its end" if recorded is None else recorded.summary(),
        )
        return
    seconds = time.perf_counter() - start
    yield CheckResult("recording", f"{len(recorded.trace['steps'])} steps of a small script, after {seconds:.1f} s")
    try:
        recorded.findings()
        yield CheckResult("findings", "can be made")
    except RuntimeError as error:
        yield CheckResult("findings", "none", str(error))


def display_and_folder_checks() -> Iterator[CheckResult]:
    """Return the lines about where pictures are written and shown."""
    environment = os.environ
    opens = can_open_browser(environment, sys.platform)
    why = "over ssh" if "SSH_CONNECTION" in environment else "in CI" if environment.get("CI") else "no display"
    yield CheckResult("browser", "opens here" if opens else f"is not opened ({why}): `gradbox open` prints the address")
    display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    yield CheckResult("display", display or ("the system's" if sys.platform in ("darwin", "win32") else "none"))
    for name, folder in (("files of regions", Path.cwd()), ("temporary files", Path(tempfile.gettempdir()))):
        writable = os.access(folder, os.W_OK)
        free = shutil.disk_usage(folder).free / 1e9
        problem = "it can't be written" if name == "temporary files" and not writable else ""
        yield CheckResult(name, f"{folder}, {free:.1f} GB free" + ("" if writable else "; can't be written"), problem)


def notebook_and_pytest_checks() -> Iterator[CheckResult]:
    """Return the lines about the notebook extension and the pytest plugin."""
    ipython, kernel = package_version("ipython"), package_version("ipykernel")
    yield CheckResult(
        "notebooks",
        f"%load_ext gradbox, with IPython {ipython}, ipykernel {kernel or 'none'}" if ipython else "no IPython here",
    )
    pytest = package_version("pytest")
    has_plugin = any(entry.value == "gradbox.pytest_plugin" for entry in metadata.entry_points(group="pytest11"))
    how = "--gradbox" if has_plugin else "-p gradbox.pytest_plugin --gradbox, for gradbox is not installed as a package"
    yield CheckResult("tests", f"pytest {pytest}: {how}" if pytest else "no pytest here")


def package_version(package: str) -> str:
    """Return the version of a package, or "" if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
