"""The confinement alone: no attack gets out, programs still work in it, and `probe` tells what this host can do."""

import functools
import json
import os
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from server.worker import confine, landlock, seccomp
from tests.attack_runner import become
from tests.attacks import ATTACKS, ENDS, OF_ROOT, PROGRAMS, UNTRIED

pytestmark = pytest.mark.attack

ROOT = Path(__file__).parent.parent
NOBODY = 65_534
USERS = [0, NOBODY] if os.geteuid() == 0 else [os.geteuid()]
NAMES = [layer.name for layer in confine.LAYERS]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
as_any = pytest.mark.parametrize("user", USERS)


@functools.cache
def outcomes(user: int, how: str) -> dict[str, dict[str, str]]:
    environment = {"SECRET": "s3cr3t", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.attack_runner", str(user), how]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    results: dict[str, dict[str, str]] = json.loads(done.stdout)
    return results


@pytest.fixture
def host() -> None:
    lacking = confine.missing_layers(confine.try_layers())
    if lacking:
        pytest.skip(f"this host cannot confine: {lacking}")


def in_a_child(act: Callable[[], object]) -> str:
    """What came of it in a process of its own: its result, or what it raised."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, str(act()).encode())
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        result = file.read().decode()
    os.waitpid(pid, 0)
    return result


@as_any
@pytest.mark.usefixtures("host")
def test_no_attack_succeeds(user: int) -> None:
    ends = outcomes(user, "confined")["attacks"]
    assert ends.keys() == ATTACKS.keys()
    assert {name: end for name, end in ends.items() if not end.startswith(("raised ", "died "))} == {}


@as_any
def test_an_attack_succeeds_where_nothing_holds_it(user: int) -> None:
    """But for what this host refuses anybody. So none of them fails by a mistake of its own."""
    ends = outcomes(user, "loose")["attacks"]
    assert ends.keys() == ATTACKS.keys() - UNTRIED.keys() - (OF_ROOT.keys() if user else set())
    failed = {name: end for name, end in ends.items() if end != "succeeded"}
    assert {name: end for name, end in failed.items() if not re.match(r"raised \w*Error: \[Errno \d+\]", end)} == {}
    assert len(failed) < len(ends) / 10, failed


@as_any
@pytest.mark.usefixtures("host")
def test_a_program_that_does_not_end_is_ended(user: int) -> None:
    assert outcomes(user, "confined")["ends"] == {name: end for name, (_, end) in ENDS.items()}


@as_any
@pytest.mark.usefixtures("host")
def test_programs_work(user: int) -> None:
    assert outcomes(user, "confined")["programs"] == dict.fromkeys(PROGRAMS, "succeeded")


def test_each_layer_that_the_kernel_has_works_here() -> None:
    layers = confine.try_layers()
    assert list(layers) == NAMES
    expected = dict.fromkeys(NAMES, "")
    if os.geteuid() != 0:
        expected["uid"] = "the server does not run as root"
    if not landlock.abi():
        expected["landlock"] = "the kernel has no Landlock"
    assert layers == expected


@as_root
def test_an_ordinary_user_has_no_user_to_change_from() -> None:
    def act() -> str:
        become(NOBODY)
        layers = confine.try_layers()
        return json.dumps([layers["uid"], confine.missing_layers(layers)])

    assert json.loads(in_a_child(act)) == ["the server does not run as root", {}]


def test_what_root_lacks_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = dict.fromkeys(NAMES, "") | {"uid": "why", "landlock": "why not"}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert confine.missing_layers(layers) == {"uid": "why", "landlock": "why not"}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert confine.missing_layers(layers) == {"landlock": "why not"}


@pytest.mark.parametrize(
    ("apply", "is_effective", "reason"),
    [
        (lambda _: None, lambda _: True, ""),
        (lambda _: None, lambda _: False, "it was entered and changed nothing"),
        (lambda _: time.sleep(60), lambda _: True, "a process that tried it ended with -9"),
        (lambda _: os._exit(3), lambda _: True, "a process that tried it ended with 3"),
        (lambda _: signal.raise_signal(signal.SIGTERM), lambda _: True, "a process that tried it ended with -15"),
        (lambda _: confine.prctl(-1), lambda _: True, "Invalid argument"),
        (lambda _: dict[str, int]()["x"], lambda _: True, "KeyError: 'x'"),
    ],
)
def test_a_trial_ends_whatever_a_layer_does(
    apply: Callable[[confine.Restrictions], object],
    is_effective: Callable[[confine.Restrictions], bool],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confine, "TRIAL_TIMEOUT", 0.5)
    assert confine.try_layer(confine.Layer("a layer", apply, is_effective)) == reason


@as_root
@pytest.mark.parametrize(
    ("layer", "error"),
    [
        ("uid", "PermissionError: [Errno 1] the server does not run as root"),
        ("landlock", "PermissionError: [Errno 1] Operation not permitted"),
        ("seccomp", "PermissionError: [Errno 13] Permission denied"),
    ],
)
def test_a_layer_that_worked_and_fails_stops_the_child(layer: str, error: str) -> None:
    """An ordinary user can't change to another one, nor take the two others without no_new_privs."""

    def act() -> None:
        become(NOBODY)
        confine.Confinement(dict.fromkeys(NAMES, "left out") | {layer: ""}, 1 << 30, 5, 61_000).apply((), 0)

    assert in_a_child(act) == error


def test_a_limit_is_not_raised_over_the_one_that_is_there() -> None:
    def act() -> list[int]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (8, 9))
        confine.lower_limit(resource.RLIMIT_NOFILE, 16)
        confine.lower_limit(resource.RLIMIT_CPU, 5, 6)
        return [*resource.getrlimit(resource.RLIMIT_NOFILE), *resource.getrlimit(resource.RLIMIT_CPU)]

    assert in_a_child(act) == "[9, 9, 5, 6]"


@as_any
@pytest.mark.usefixtures("host")
def test_a_child_dies_with_its_parent(user: int) -> None:
    """Though it has changed its user, which the kernel forgets that for."""
    reader, writer = os.pipe()
    parent = os.fork()
    if parent == 0:
        try:
            if user != os.geteuid():
                become(user)
            confinement = confine.Confinement(confine.try_layers(), 1 << 30, 5, 61_000)
            if os.fork() == 0:
                confine.prctl(1, signal.SIGKILL)
                confinement.apply((writer,), 0)
                os.write(writer, str(os.getpid()).encode())
            time.sleep(60)
        finally:
            os._exit(1)
    os.close(writer)
    child = os.pidfd_open(int(os.read(reader, 20)))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert select.select([child], [], [], 5)[0]
    os.close(child)
    os.close(reader)


@pytest.mark.skipif(not landlock.abi(), reason="the kernel has no Landlock")
def test_landlock_can_leave_something_to_read(tmp_path: Path) -> None:
    for name in ("file", "other"):
        (tmp_path / name).write_text(name)
    (tmp_path / "directory").mkdir()
    (tmp_path / "directory/inner").write_text("inner")

    def act() -> str:
        confine.prctl(38, 1)
        landlock.restrict([str(tmp_path / "file"), str(tmp_path / "directory")])
        assert confine.raises_os_error((tmp_path / "other").read_text)
        assert confine.raises_os_error((tmp_path / "file").write_text, "x")
        assert confine.raises_os_error((tmp_path / "directory/new").write_text, "x")
        return (tmp_path / "file").read_text() + (tmp_path / "directory/inner").read_text()

    assert in_a_child(act) == "fileinner"


def test_landlock_asks_for_what_its_version_knows() -> None:
    assert landlock.attributes(1) == struct.pack("Q", 0x1FFF)
    assert landlock.attributes(3) == struct.pack("Q", 0x7FFF)
    assert landlock.attributes(4) == struct.pack("2Q", 0x7FFF, 3)
    assert landlock.attributes(7) == struct.pack("3Q", 0xFFFF, 3, 3)


# the filter, held against the kernel's headers and run by the few lines of an interpreter

PID = 4711
I386, ARM = 0x40000003, 0x40000028
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
both = pytest.mark.parametrize("machine", list(HEADERS))


def verdict(machine: str, number: int, *arguments: int, arch: int | None = None) -> int | None:
    """The error that a call gets from the filter, None where it is allowed."""
    arguments = tuple(argument % (1 << 64) for argument in (*arguments, *[0] * 6)[:6])
    data = struct.pack("=IIQ6Q", number, seccomp.MACHINES[machine][1] if arch is None else arch, 0, *arguments)
    code = list(struct.iter_unpack("=HBBI", seccomp.filter_program(PID, machine)))
    loaded, at = 0, 0
    while True:
        operation, then, otherwise, value = code[at]
        at += 1
        if operation == 0x20:
            loaded = struct.unpack_from("=I", data, value)[0]
        elif operation == 0x54:
            loaded &= value
        elif operation == 0x15:
            at += then if loaded == value else otherwise
        else:
            assert operation == 0x06
            assert value == 0x7FFF0000 or value >> 16 == 5
            return None if value == 0x7FFF0000 else value & 0xFFFF


@both
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"no {HEADERS[machine]}")
    text = HEADERS[machine].read_text()
    known = {name: int(n) for name, n in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)$", text, re.M)}
    known["newfstatat"] = known.get("newfstatat", known.get("fstatat", 0))
    column = seccomp.MACHINES[machine][0]
    for name, numbers in {**seccomp.ALLOWED, **seccomp.HIDDEN, **seccomp.ABSENT}.items():
        assert numbers[column] == known.get(name), name


@both
def test_nothing_else_is_allowed(machine: str) -> None:
    column = seccomp.MACHINES[machine][0]
    allowed = {numbers[column] for numbers in seccomp.ALLOWED.values()}
    for number in range(1024):
        if number not in allowed:
            assert verdict(machine, number) in (1, 2, 38), number
        for foreign in (I386, ARM):
            assert verdict(machine, number, arch=foreign) == 1
        assert verdict(machine, 0x40000000 + number) == 1


@both
@pytest.mark.parametrize(
    ("name", "arguments", "allowed"),
    [
        ("ioctl", (0, 0x5401), True),
        ("ioctl", (0, 0x5412), False),  # TIOCSTI
        ("fcntl", (0, 0), True),
        ("fcntl", (0, 4), True),
        ("fcntl", (0, 1030), True),
        ("fcntl", (0, 8), False),  # F_SETOWN
        ("fcntl", (0, 10), False),  # F_SETSIG
        ("fcntl", (0, 1026), False),  # F_NOTIFY
        ("fcntl", (0, 1031), False),  # F_SETPIPE_SZ
        ("madvise", (0, 4096, 4), True),
        ("madvise", (0, 4096, 12), False),  # MADV_MERGEABLE
        ("mmap", (0, 4096, 3, 0x22), True),
        ("mmap", (0, 4096, 3, 0x4022), True),
        ("mmap", (0, 4096, 3, 0x21), False),
        ("mmap", (0, 4096, 3, 0x3), False),  # MAP_SHARED_VALIDATE
        ("mmap", (0, 4096, 3, 0x122), False),
        ("mmap", (0, 4096, 3, 0x40022), False),
        ("prlimit64", (0, 7, 0), True),
        ("prlimit64", (PID, 7, 0), True),
        ("prlimit64", (PID + 1, 7, 0), False),
        ("prlimit64", (0, 7, 1), False),
        ("prlimit64", (0, 7, 1 << 32), False),
        ("sched_getaffinity", (0,), True),
        ("sched_getaffinity", (1,), False),
        ("tgkill", (PID, PID + 1, 6), True),
        ("tgkill", (PID + 1, PID + 1, 6), False),
        ("tgkill", (0, 0, 6), False),
        ("tgkill", (-1, 1, 6), False),
        ("clone", (0x3D0F00,), True),
        ("clone", (0x3D0F00 | 17,), False),
        ("clone", (0x3D0F00 | 1 << 28,), False),  # CLONE_NEWUSER
        ("clone", (17,), False),
        ("clock_gettime", (7,), True),
        ("clock_gettime", (~PID << 3 | 2,), False),
        ("clock_nanosleep", (~PID << 3 | 2,), False),
    ],
)
def test_what_arguments_may_be(machine: str, name: str, arguments: tuple[int, ...], allowed: bool) -> None:
    number = seccomp.ALLOWED[name][seccomp.MACHINES[machine][0]]
    assert number is not None
    assert verdict(machine, number, *arguments) == (None if allowed else 1)


def test_a_machine_without_a_list_says_so() -> None:
    with pytest.raises(OSError, match="there is no list of system calls for riscv64"):
        seccomp.filter_program(PID, "riscv64")


def test_a_filter_covers_the_threads_that_are_there() -> None:
    """Run apart, for it starts a thread."""
    code = """
import os, threading, time
from server.worker import confine, seccomp
seen, go = [], threading.Event()
def act():
    go.wait()
    seen.append(confine.raises_os_error(os.pipe))
thread = threading.Thread(target=act)
thread.start()
confine.prctl(38, 1)
seccomp.install_filter(seccomp.filter_program(os.getpid()))
go.set()
thread.join()
os._exit(seen != [True])
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
