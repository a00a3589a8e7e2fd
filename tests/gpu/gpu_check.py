"""`make gpu-check`: everything that needs a GPU, on a machine that has one, in less than five minutes; prints one
table.

`python -m tests.gpu.gpu_check [--programs FOLDER …] [--out FOLDER]`, in the project's folder, with the Python that has
torch for CUDA. It starts a server with `GRADBOX_GPU=1` and asks it for runs on `cuda`: the programs of
tests/examples/gpu_programs (and of other folders) against plain Python, the referee over those and over
tests/examples/programs with CUDA as the default device, the times of one visitor and of eight, an endless kernel, and
what the next program and one on the CPU beside it notice. Then it records a training as own code, and runs the tests
that need a GPU. The status is 1 where something does not hold.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.gpu.gpu_trace import post_program

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/examples/gpu_programs"
TRAINING = ROOT / "tests/gpu/gpu_training.py"
IN_PROCESS_TESTS = [
    "tests/gpu/test_device_kernels.py",
    "tests/gpu/test_cuda_repairs.py::test_a_gpu_has_the_facts_that_are_expected_of_it",
]
"""Tests that use CUDA in the process of pytest: no fork of that may be asked to use it after them."""

FORKING_TESTS = [
    "tests/gpu/test_gpu.py",
    "tests/gpu/test_gpu_queue.py",
    "tests/gpu/test_device_probe.py",
    "tests/recorder/test_device_bytes.py",
    "tests/gpu/test_cuda_repairs.py",
    "--deselect",
    IN_PROCESS_TESTS[1],
]
LIMITS = ("RATE", "ADDRESS", "REQUEST", "LIVE", "LIVE_ADDRESS", "SAVE", "SAVE_ADDRESS", "PICTURE")
MASK = re.compile(r"0x[0-9a-f]+|\d+\.\d+ [GM]iB|process \d+|\(\d+\)")
"""What of a printed text differs from run to run: addresses, free memory, processes."""

SUMMARY = re.compile(
    r"(?P<agree>\d+) of (?P<all>\d+) agree, (?P<refused>\d+) refused, \d+ differ, (?P<left_out>\d+) left out"
)
"""The last line of the referee."""

LEFT_TO_PLAIN = (
    "too_much_memory",
    "index_too_large",
    "allocator_numbers",
    "fragmentation",
    "losses_kept",
    "graph_replay",
    "oom",
    "device_assert",
    "memory",
    "conv_bn",
    "convolutions",
)
"""Programs that the referee can't run twice in a process, or whose numbers are of a process that has run nothing
else."""

PLAIN_RUN = """
import contextlib, io, json, os, signal, sys
import torch, numpy
ended = {}
for name in sys.argv[1:]:
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        printed, end = io.StringIO(), "finished"
        torch.manual_seed(0)
        torch.set_num_threads(1)
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(open(name).read(), "<program>", "exec"), {"__name__": "__main__"})
            except BaseException as error:
                end = type(error).__name__ + ": " + str(error).splitlines()[0][:150]
        os.write(writer, json.dumps([end, printed.getvalue()]).encode())
        os._exit(0)
    os.close(writer)
    data = os.fdopen(reader, "rb").read()
    os.waitpid(pid, 0)
    ended[name] = json.loads(data) if data else ["no answer", ""]
print(json.dumps(ended))
"""


@dataclass
class Table:
    """What was measured, and whether it holds; None where nothing is asked of it."""

    rows: list[tuple[str, str, bool | None]] = field(default_factory=list)
    start: float = field(default_factory=time.monotonic)

    def add(self, name: str, value: str, holds: bool | None = None) -> None:
        """Add a row and print it at once, for a check that is stopped half-way."""
        self.rows.append((name, value, holds))
        print(f"[{time.monotonic() - self.start:4.0f} s] {self._line(name, value, holds)}", flush=True)

    def print(self) -> bool:
        """Print all rows; returns whether all holds."""
        print("\n" + "\n".join(self._line(*row) for row in self.rows))
        failed = [name for name, _, holds in self.rows if holds is False]
        print(f"\n{len(failed)} of {len(self.rows)} do not hold: {', '.join(failed)}" if failed else "\nall holds")
        return not failed

    @staticmethod
    def _line(name: str, value: str, holds: bool | None) -> str:
        return f"{'!' if holds is False else ' '} {name:34} {value}"


def printed_by(trace: Any) -> str:
    return "".join(entry["text"] for step in trace["steps"] for entry in step.get("log", []) if entry["kind"] == "out")


def small_program(number: int) -> str:
    """A program of four statements; each number gives another one."""
    return (
        f"import torch\na = torch.ones({number % 50 + 2}, device='cuda', requires_grad=True)\n"
        f"b = (a * {number}).sin()\nb.sum().backward()\nprint(a.grad.shape)\n"
    )


@contextlib.contextmanager
def running_server(out: Path) -> Iterator[str]:
    """A server with a GPU on a free port; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "GRADBOX_GPU": "1", "GRADBOX_DATA": str(out / "data")}
    environment |= {f"GRADBOX_{name}_LIMIT": "100000/minute" for name in LIMITS}
    with open(out / "server.operating.log", "w") as log:
        command = [sys.executable, "-m", "server", "serve", "--port", str(port)]
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=ROOT, start_new_session=True)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(20)


def check_start(table: Table, url: str) -> bool:
    """Wait until programs run on the CPU and on the GPU. Returns whether they do."""
    start, workers = time.monotonic(), {"cpu": "", "cuda": ""}
    while time.monotonic() - start < 90 and set(workers.values()) != {"ready"}:
        with contextlib.suppress(OSError):
            workers = json.loads(urllib.request.urlopen(f"{url}/healthz", timeout=5).read())["workers"]
        if "does not start" in workers["cuda"] or "do not start" in workers["cpu"]:
            break
        time.sleep(0.2)
    seconds = f"after {time.monotonic() - start:.1f} s"
    for device, state in workers.items():
        table.add(f"workers, {device}", f"{state} {seconds}", state == "ready")
    return workers["cuda"] == "ready"


def check_programs(table: Table, url: str, files: Sequence[Path], out: Path) -> None:
    """Every program prints and ends as in plain Python."""
    parts = [
        subprocess.Popen([sys.executable, "-W", "ignore", "-c", PLAIN_RUN, *map(str, files[k::4])],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for k in range(4)
    ]  # fmt: skip
    plain: dict[str, tuple[str, str]] = {}
    for part in parts:
        plain |= json.loads(part.communicate(timeout=120)[0] or "{}")
    different, times, faults = [], [], 0
    for file in files:
        begin = time.perf_counter()
        status, trace = post_program(url, file.read_text())
        times.append((time.perf_counter() - begin) * 1000)
        end, text = plain.get(str(file), ("not run", ""))
        if status != 200:
            different.append(file.stem)
            print(f"    {file.stem}: {status} {trace}")
            continue
        (out / f"{file.stem}.json").write_text(json.dumps(trace))
        faults += sum(entry.get("event") == "tracer_fault" for step in trace["steps"] for entry in step["log"])
        if not ends_alike(trace, end, text):
            different.append(file.stem)
            print(
                f"    {file.stem}: plain {end!r} {text[-200:]!r}; here {trace['outcome']} {printed_by(trace)[-200:]!r}"
            )
    value = f"{len(files) - len(different)} of {len(files)} {' '.join(different)}"
    table.add("programs as in plain Python", value, not different)
    table.add("faults of the recorder in these", str(faults), faults == 0)
    table.add("a program, median and longest", f"{statistics.median(times):.0f} ms, {max(times):.0f} ms")


def ends_alike(trace: Any, end: str, text: str) -> bool:
    """Whether a trace prints what plain Python printed, and ends as that did."""
    outcome = trace["outcome"]
    finished = (end == "finished") == (outcome["status"] == "finished")
    message = MASK.sub("#", end.split(": ", 1)[-1][:60])
    said = end == "finished" or message in MASK.sub("#", json.dumps(outcome))
    return finished and said and MASK.sub("#", printed_by(trace)) == MASK.sub("#", text)


def check_referee(table: Table, url: str, files: Sequence[Path], every: int, out: Path) -> None:
    """The referee over the programs, and over every n-th of tests/examples/programs with CUDA as the default device."""
    folder = out / "referee"
    folder.mkdir(exist_ok=True)
    for file in files:
        if file.stem not in LEFT_TO_PLAIN:
            (folder / f"gpu_{file.name}").write_text(file.read_text())
    for file in sorted((ROOT / "tests/examples/programs").glob("*.py"))[::every]:
        (folder / file.name).write_text(f"import torch\ntorch.set_default_device('cuda')\n{file.read_text()}")
    names = sorted(map(str, folder.glob("*.py")))
    command = [sys.executable, "-W", "ignore", "-m", "tests.referee.agreement", "--trace"]
    command.append(f"{sys.executable} -m tests.gpu.gpu_trace {url}")
    parts = [
        subprocess.Popen(
            [*command, *names[k::4]], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for k in range(4)
    ]
    counts: Counter[str] = Counter()
    for part in parts:
        text = part.communicate(timeout=150)[0]
        with (out / "referee.log").open("a") as log:
            log.write(text)
        for line in text.splitlines():
            if summary := SUMMARY.fullmatch(line):
                counts.update({name: int(number) for name, number in summary.groupdict().items()})
            elif line.startswith("differs"):
                print(f"    {line[:300]}")
    judged = counts["all"] - counts["left_out"]
    agree = f"{counts['agree']} of {judged} agree, {counts['refused']} refused, {counts['left_out']} left out"
    table.add("the referee", agree, judged >= len(names) // 2 and counts["agree"] >= 0.98 * judged)


def check_visitors(table: Table, url: str) -> None:
    """How long one visitor waits, and that eight at once all get an answer."""
    times = []
    for number in range(12):
        begin = time.perf_counter()
        post_program(url, small_program(number))
        times.append((time.perf_counter() - begin) * 1000)
        time.sleep(0.5)
    table.add("one visitor, median", f"{statistics.median(times):.0f} ms", statistics.median(times) <= 150)
    begin = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda number: post_program(url, small_program(number + 100))[0], range(16)))
    seconds = time.perf_counter() - begin
    table.add("16 programs of 8 visitors", f"{statuses.count(200)} answered in {seconds:.1f} s", set(statuses) == {200})


def check_endless(table: Table, url: str) -> None:
    """A program without an end is stopped; a run on the CPU beside it and the next program notice nothing."""
    endless = "import torch\na = torch.ones(4096, 4096, device='cuda')\nwhile True:\n    a = a @ a\n"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        begin = time.perf_counter()
        running = pool.submit(post_program, url, endless)
        time.sleep(2)
        beside = time.perf_counter()
        status, _ = post_program(url, "print(1)", "cpu")
        beside_ms = (time.perf_counter() - beside) * 1000
        table.add("a CPU run beside endless kernels", f"{beside_ms:.0f} ms", status == 200 and beside_ms <= 2000)
        outcome = running.result()[1]
        stopped = outcome["outcome"] if isinstance(outcome, dict) else outcome
        seconds = time.perf_counter() - begin
        table.add(
            "endless kernels", f"{json.dumps(stopped)[:120]} after {seconds:.1f} s", '"stopped"' in json.dumps(stopped)
        )
    status, trace = post_program(
        url, "import torch\nprint(torch.cuda.memory_allocated(), torch.ones(2, device='cuda').sum().item())"
    )
    table.add("the next program", f"{status} {printed_by(trace).strip() if status == 200 else trace}", status == 200)


def check_own_code(table: Table, out: Path) -> None:
    """A training as own code: its processor time plain, and recorded whole."""
    plain = timed([sys.executable, str(TRAINING)])
    table.add("own code, plain", describe(plain), plain.status == 0)
    trace = out / "own.json"
    whole = timed([sys.executable, "-m", "gradbox", "open", "--trace", str(trace), str(TRAINING)])
    ratio = whole.cpu / max(plain.cpu, 0.01)
    table.add(
        "own code, recorded whole", f"{describe(whole)}; {ratio:.1f} times plain", whole.status == 0 and ratio <= 5
    )
    if trace.exists():
        recorded = json.loads(trace.read_text().splitlines()[0])
        table.add("its trace", f"{len(recorded['steps'])} steps, {trace.stat().st_size / 1e6:.1f} MB")


@dataclass(frozen=True)
class Timed:
    """How a command ended: its status, seconds, seconds of the processor, and the end of what it said."""

    status: int
    seconds: float
    cpu: float
    said: str


def timed(command: Sequence[str]) -> Timed:
    """Run a command."""
    wrapper = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime); "
        "sys.exit(done.returncode)"
    )
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", wrapper, *command], cwd=ROOT, capture_output=True, text=True, timeout=90, check=False
    )
    *said, cpu = done.stdout.splitlines()
    return Timed(
        done.returncode, time.perf_counter() - begin, float(cpu), "\n".join([*said, done.stderr]).strip()[-300:]
    )


def describe(run: Timed) -> str:
    return f"{run.seconds:.1f} s, {run.cpu:.1f} s of the processor" + ("" if run.status == 0 else f"; {run.said}")


def check_tests(table: Table, out: Path) -> None:
    """The tests that need a GPU."""
    for name, tests in (("tests in the process", IN_PROCESS_TESTS), ("tests of workers", FORKING_TESTS)):
        command = [sys.executable, "-m", "pytest", "-v", "-rf", "-p", "no:cacheprovider", *tests]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
        with (out / "pytest.log").open("a") as log:
            log.write(done.stdout + done.stderr)
        for line in done.stdout.splitlines():
            if line.startswith(("FAILED", "ERROR")):
                print(f"    {line[:300]}")
        summary = [line.strip("= ") for line in done.stdout.splitlines() if re.search(r"\d+ (passed|failed)", line)]
        table.add(name, summary[-1] if summary else f"status {done.returncode}", done.returncode == 0)


def attempt(table: Table, check: Callable[..., None], *arguments: Any) -> None:
    """Run a check; one that breaks is a row that does not hold."""
    try:
        check(table, *arguments)
    except Exception as error:
        table.add(check.__name__.removeprefix("check_"), f"{type(error).__name__}: {error}"[:300], False)


def card_name() -> str:
    """The GPU and its driver, as NVIDIA's own command names them."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return "unknown: there is no nvidia-smi"
    query = [command, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.gpu.gpu_check", description="What needs a GPU, in one table."
    )
    parser.add_argument("--programs", nargs="*", type=Path, default=[], help="more folders with programs")
    parser.add_argument(
        "--every", type=int, default=5, metavar="N", help="have the referee run every n-th of tests/examples/programs"
    )
    parser.add_argument("--out", type=Path, help="a folder for traces and logs")
    args = parser.parse_args()
    out: Path = args.out or Path(tempfile.mkdtemp(prefix="gradbox-gpu-"))
    out.mkdir(parents=True, exist_ok=True)
    table = Table()
    table.add("GPU", card_name())
    files = [file for folder in (PROGRAMS, *args.programs) for file in sorted(folder.glob("*.py"))]
    with concurrent.futures.ThreadPoolExecutor(1) as beside, running_server(out) as url:
        if check_start(table, url):
            attempt(table, check_visitors, url)
            attempt(table, check_endless, url)
            tests = beside.submit(attempt, table, check_tests, out)
            attempt(table, check_programs, url, files, out)
            own_code = beside.submit(attempt, table, check_own_code, out)
            attempt(table, check_referee, url, files, args.every, out)
            tests.result()
            own_code.result()
        else:
            print((out / "server.operating.log").read_text()[-3000:])
            attempt(table, check_own_code, out)
    return 0 if table.print() else 1


if __name__ == "__main__":
    sys.exit(main())
