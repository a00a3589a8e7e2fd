"""The filter of system calls, held against the kernel's headers and run by the few lines of an interpreter."""

import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from server.worker import seccomp

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.attack

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
    data = struct.pack(
        "=IIQ6Q", number, seccomp.AUDIT_ARCH_OF_MACHINE[machine][1] if arch is None else arch, 0, *arguments
    )
    code = list(struct.iter_unpack("=HBBI", seccomp.build_filter_program(PID, machine)))
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
    column = seccomp.AUDIT_ARCH_OF_MACHINE[machine][0]
    for name, numbers in {**seccomp.ALLOWED_CALLS, **seccomp.HIDDEN_CALLS, **seccomp.ABSENT_CALLS}.items():
        assert numbers[column] == known.get(name), name


@both
def test_system_calls_outside_the_list_are_refused(machine: str) -> None:
    column = seccomp.AUDIT_ARCH_OF_MACHINE[machine][0]
    allowed = {numbers[column] for numbers in seccomp.ALLOWED_CALLS.values()}
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
def test_a_system_call_is_allowed_by_its_arguments(
    machine: str, name: str, arguments: tuple[int, ...], allowed: bool
) -> None:
    number = seccomp.ALLOWED_CALLS[name][seccomp.AUDIT_ARCH_OF_MACHINE[machine][0]]
    assert number is not None
    assert verdict(machine, number, *arguments) == (None if allowed else 1)


def test_a_machine_without_a_list_says_so() -> None:
    with pytest.raises(OSError, match="there is no list of system calls for riscv64"):
        seccomp.build_filter_program(PID, "riscv64")


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
seccomp.install_filter(seccomp.build_filter_program(os.getpid()))
go.set()
thread.join()
os._exit(seen != [True])
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
