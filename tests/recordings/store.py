"""Recordings of programs, kept between runs of the tests in `var/recordings`: what only reads traces takes them from
here.

A recording lies under a hash of all that makes it: the files that record, Python, its packages, the processor and the
environment; then the program and its options. At every run some of those that are read are recorded anew and compared.
What tests the recorder itself calls `tests.support.tracing.trace`, which always records. docs/decisions/0053 has the
reasons.
"""

import difflib
import gzip
import hashlib
import json
import os
import platform
import re
import secrets
import sys
import sysconfig
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tests.forks.fork_host import host_environment
from tests.support.tracing import trace

ROOT = Path(__file__).parents[2]

RECORDS = (
    "gradbox/__init__.py",
    "gradbox/gradient_check",
    "gradbox/language",
    "gradbox/recorder",
    "gradbox/wire",
    "server/__init__.py",
    "server/wire/__init__.py",
    "server/wire/link.py",
    "server/worker",
    "tests/__init__.py",
    "tests/forks/__init__.py",
    "tests/forks/fork_host.py",
    "tests/forks/host_sockets.py",
    "tests/forks/huge_pages.py",
    "tests/forks/prepared_modules.py",
    "tests/forks/recorder_host.py",
    "tests/forks/torch_host.py",
    "tests/support/__init__.py",
    "tests/support/full_observation.py",
    "tests/support/lifetime_log.py",
    "tests/support/recorder_changes.py",
    "tests/support/tracing.py",
    "tests/support/waiting.py",
)
"""The files and folders that make a recording. tests/recordings/test_recordings.py compares them with what a recording
process has loaded."""

DOES_NOT_RECORD = ("gradbox/language/fixes/",)
"""Within those folders, what no recording process loads."""

VARIABLES = re.compile(r"(ATEN|CUDA|DNNL|KMP|LC|MKL|NPY|OMP|ONEDNN|OPENBLAS|PYTHON|PYTORCH|TORCH)_?|LANG|TZ$")
"""The variables of the environment on which a recording may depend, by their beginnings."""
HARMLESS_VARIABLES = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}

NOT_KEPT = (
    (r"\bLSTM\(", "its kernel saves bytes for backward of which it writes only some"),
    (r"\b(empty|empty_like|empty_strided|new_empty)\(", "its values are those of memory that nobody has written"),
    (
        r"^(import|from) (datetime|secrets|tempfile|time|uuid)\b|\bid\(",
        "it may print the time, a random name or an address",
    ),
)
"""Of programs whose recordings differ from run to run: a pattern of their text, and the reason. They are never kept."""

UNHURRIED = "tests.support.recorder_changes:give_time_to_judge_functions"
"""What is called before a program whose recording is kept, so that it is the same on a slow machine."""

CELLS_COMPARED = 1024
"""A trace has the values of all elements of a storage that has at most so many."""

SHARE_CHECKED = 32
"""One of so many recordings that are read is recorded anew; with RECORDINGS_CHECKED=1 each one."""

STATES_KEPT = 6
BYTES_KEPT = 400_000_000


def files_that_record(root: Path = ROOT) -> Iterator[Path]:
    """The files of a checkout that make a recording."""
    for name in RECORDS:
        path = root / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            relative = file.relative_to(root).as_posix()
            if file.is_file() and file.suffix != ".pyc" and not relative.startswith(DOES_NOT_RECORD):
                yield file


def surroundings() -> dict[str, Any]:
    """What a recording depends on beside the project's files."""
    folders = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    packages = {name for folder in folders for name in os.listdir(folder) if name.endswith(".dist-info")}
    processor = Path("/proc/cpuinfo").read_text() if sys.platform == "linux" else platform.processor()
    environment = host_environment()
    return {
        "python": sys.version,
        "packages": sorted(packages),
        "processor": sorted({*re.findall(r"^(?:model name|flags|Features)\s*:.*", processor, re.MULTILINE)} or {processor}),  # noqa: E501
        "libraries": os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else "",
        "machine": platform.machine(),
        "environment": sorted(
            item for item in environment.items() if VARIABLES.match(item[0]) and item[0] not in HARMLESS_VARIABLES
        ),
    }  # fmt: skip


def recorder_hash(root: Path = ROOT) -> str:
    """A hash of everything but the program that a recording depends on."""
    digest = hashlib.sha256(json.dumps(surroundings()).encode())
    for file in files_that_record(root):
        content = file.read_bytes()
        digest.update(f"\n{file.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:20]


def reason_not_kept(source: str) -> str | None:
    """Why the recording of a program is not kept; None where it is."""
    return next((reason for pattern, reason in NOT_KEPT if re.search(pattern, source, re.MULTILINE)), None)


def repeatable_text(document: bytes) -> str:
    """A trace without what no second recording has again, a value a line.

    That is the time it took, the order in which objects that die together are found dead, and memory that no tensor
    reads.
    """
    recorded = {name: value for name, value in json.loads(document).items() if name != "cost"}
    read = elements_read(recorded["steps"])
    for step in recorded["steps"]:
        step["gone"] = sorted(step.get("gone", []))
        for uid, fields in step["set"].items():
            without_unread_memory(fields, {dtype: read.get((uid, dtype), set()) for dtype in dtypes_of(fields)})
    return json.dumps(recorded, indent=1, sort_keys=True)


def dtypes_of(storage: dict[str, Any]) -> set[str]:
    return {dtype for name in ("cells", "cells_at", "summary", "windows") for dtype in storage.get(name) or {}}


def elements_read(steps: Sequence[dict[str, Any]]) -> dict[tuple[str, str], set[int]]:
    """By storage and dtype, the elements that a tensor or an array reads at some step."""
    handles: dict[str, dict[str, Any]] = {}
    read: dict[tuple[str, str], set[int]] = {}
    for step in steps:
        for uid, fields in step["set"].items():
            handle = handles.setdefault(uid, {})
            handle.update(fields)
            if handle.get("storage") and handle.get("stride") is not None:
                elements = {handle["offset"] or 0}
                for size, stride in zip(handle["shape"], handle["stride"], strict=True):
                    turns = range(min(size, CELLS_COMPARED if stride else 1))
                    elements = {at + k * stride for at in elements for k in turns if at + k * stride < CELLS_COMPARED}
                read.setdefault((handle["storage"], handle["dtype"]), set()).update(elements)
    return read


def without_unread_memory(storage: dict[str, Any], read: dict[str, set[int]]) -> None:
    """Take the values away that nothing reads: a kernel got more memory than its result has, and never wrote it."""
    for dtype, elements in read.items():
        cells = (storage.get("cells") or {}).get(dtype)
        if cells is not None:
            storage["cells"][dtype] = [value if at in elements else None for at, value in enumerate(cells)]
        changed = (storage.get("cells_at") or {}).get(dtype)
        if changed is not None:
            storage["cells_at"][dtype] = {at: value for at, value in changed.items() if int(at) in elements}


class Recordings:
    """Traces as JSON, kept in a folder.

    state: the hash of what records. record: makes the trace of a program with options. seed, share: which of those that
    are read are recorded anew.
    """

    def __init__(self, folder: Path, state: str, record: Callable[..., bytes], seed: str, share: int) -> None:
        self.seed, self.share = seed, share
        self.folder = folder / state
        self._record = record
        self._has_written = False

    def fill(self, sources: Sequence[str]) -> None:
        """Record the programs that are not kept, beside each other. What fails, `document` raises."""
        missing = [source for source in dict.fromkeys(sources) if self._read(self._path(source, {})) is None]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
            wait([threads.submit(self.document, source) for source in missing if reason_not_kept(source) is None])

    def document(self, source: str, **job: Any) -> bytes:
        """The trace of a program. Raises AssertionError where one that is kept differs from another recording."""
        if reason_not_kept(source) is not None:
            return self._record(source, **job)
        path = self._path(source, job)
        kept = self._read(path)
        if kept is None:
            made = self._record(source, **job)
            self._write(path, made)
            return made
        if self._is_checked(path.name):
            self._check(path, kept, self._record(source, **job))
        return kept

    def _path(self, source: str, job: dict[str, Any]) -> Path:
        key = hashlib.sha256(json.dumps([source, job], sort_keys=True).encode()).hexdigest()
        return self.folder / f"{key[:40]}.json.gz"

    def _read(self, path: Path) -> bytes | None:
        """What is kept, where it is whole; says that it was used."""
        try:
            document = gzip.decompress(path.read_bytes())
            os.utime(path)
        except (OSError, EOFError, zlib.error):  # a gzip of another sum raises an OSError, too
            return None
        return document or None

    def _write(self, path: Path, document: bytes) -> None:
        """Keep a trace. A reader finds all of it or none, whoever else writes it at the same time."""
        begun = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # another process has just taken the folder away
            begun.write_bytes(gzip.compress(document, 5))
            begun.replace(path)
        if not self._has_written:
            self._has_written = True
            prune(self.folder.parent, self.folder)

    def _is_checked(self, name: str) -> bool:
        number = int.from_bytes(hashlib.sha256(f"{self.seed} {name}".encode()).digest()[:8])
        return number % self.share == 0

    def _check(self, path: Path, kept: bytes, made: bytes) -> None:
        before, now = (repeatable_text(document).splitlines() for document in (kept, made))
        if before != now:
            difference = difflib.unified_diff(before, now, "kept", "recorded now", lineterm="", n=1)
            raise AssertionError(
                f"{path} is not what is recorded now (RECORDINGS_SEED={self.seed}). What records it is not in RECORDS of "  # noqa: E501
                f"tests/recordings/store.py, or its program is one for NOT_KEPT. Then remove {path.parent}.\n"
                + "\n".join(line[:300] for line in [*difference][:60])
            )


def prune(folder: Path, current: Path) -> None:
    """Remove recordings until at most so many states of the recorder and bytes are left, the longest unused first."""
    states = sorted((path for path in folder.iterdir() if path.is_dir()), key=last_use, reverse=True)
    left = [current, *(state for state in states if state != current)]
    used = 0
    for position, state in enumerate(left):
        files = sorted(((info.st_mtime, info.st_size, entry.path) for entry, info in files_of(state)), reverse=True)
        for _, size, path in files:
            used += size
            if position >= STATES_KEPT or used > BYTES_KEPT:
                Path(path).unlink(missing_ok=True)
        with suppress(OSError):  # not empty, as most are
            state.rmdir()


def files_of(state: Path) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """The files of a state of the recorder, which another process may just remove."""
    with suppress(FileNotFoundError), os.scandir(state) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                yield entry, entry.stat()


def last_use(state: Path) -> float:
    """When one of its recordings was last read or written."""
    return max((info.st_mtime for _, info in files_of(state)), default=0.0)


def recorded_document(source: str, **job: Any) -> bytes:
    """The trace of a program, recorded now, as JSON on one line."""
    return json.dumps(trace(source, UNHURRIED, **job), separators=(",", ":")).encode()


@cache
def recordings() -> Recordings:
    """Those of this checkout, or of the folder that RECORDINGS names, which several checkouts can share."""
    folder = Path(os.environ.get("RECORDINGS") or ROOT / "var/recordings")
    share = int(os.environ.get("RECORDINGS_CHECKED") or SHARE_CHECKED)
    seed = os.environ.setdefault("RECORDINGS_SEED", secrets.token_hex(4))
    return Recordings(folder, recorder_hash(), recorded_document, seed, share)


def kept_document(source: str, **job: Any) -> bytes:
    """The trace of a program as JSON, kept or recorded now.

    job: as for `tests.support.tracing.trace`
    """
    return recordings().document(source, **job)


def kept_trace(source: str, **job: Any) -> dict[str, Any]:
    """The trace of a program as JSON values, kept or recorded now."""
    document: dict[str, Any] = json.loads(kept_document(source, **job))
    return document


def kept_traces(sources: Sequence[str]) -> list[dict[str, Any]]:
    """The traces of programs as JSON values."""
    recordings().fill(sources)
    return [kept_trace(source) for source in sources]
