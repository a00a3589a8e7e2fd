"""The system calls that a run's process may make, as a classic BPF program for the kernel.

Every other call is refused. A program can compute, use its own memory, start threads and write to what is already open;
it can't open anything, start a process or reach another one.
"""

import ctypes
import errno
import os
import struct
from dataclasses import dataclass

AUDIT_ARCH_OF_MACHINE = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""For each machine, which of a call's two numbers is its own, and the kernel's AUDIT_ARCH value."""

ALLOWED_CALLS: dict[str, tuple[int | None, int | None]] = {
    # its own memory
    "brk": (12, 214),
    "madvise": (28, 233),  # checked
    "mmap": (9, 222),  # checked
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    # descriptors that are already open
    "close": (3, 57),
    "dup": (32, 23),
    "fcntl": (72, 25),  # checked
    "fstat": (5, 80),
    "getcwd": (79, 17),
    "ioctl": (16, 29),  # checked
    "lseek": (8, 62),
    "poll": (7, None),
    "ppoll": (271, 73),
    "pread64": (17, 67),
    "pselect6": (270, 72),
    "pwrite64": (18, 68),
    "read": (0, 63),
    "readv": (19, 65),
    "select": (23, None),
    "write": (1, 64),
    "writev": (20, 66),
    # its own threads and signals
    "clone": (56, 220),  # checked
    "exit": (60, 93),
    "exit_group": (231, 94),
    "futex": (202, 98),
    "gettid": (186, 178),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123),  # checked
    "sched_yield": (24, 124),
    "set_robust_list": (273, 99),
    "sigaltstack": (131, 132),
    "tgkill": (234, 131),  # checked
    # clocks and chance
    "clock_getres": (229, 114),  # checked
    "clock_gettime": (228, 113),  # checked
    "clock_nanosleep": (230, 115),  # checked
    "getrandom": (318, 278),
    "gettimeofday": (96, 169),
    "nanosleep": (35, 101),
    "time": (201, None),
    # what it is and what it used
    "arch_prctl": (158, None),  # checked
    "getcpu": (309, 168),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrusage": (98, 165),
    "getuid": (102, 174),
    "prlimit64": (302, 261),  # checked
    "sysinfo": (99, 179),
    "times": (100, 153),
    "uname": (63, 160),
}
"""For each call, its numbers on x86-64 and on arm64; None if a machine has no such call."""

HIDDEN_CALLS: dict[str, tuple[int | None, int | None]] = {
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "stat": (4, None),
    "statx": (332, 291),
}
"""Calls that fail with ENOENT, as though the file did not exist, so that a late import raises ModuleNotFoundError."""

ABSENT_CALLS: dict[str, tuple[int | None, int | None]] = {"clone3": (435, 435)}
"""Calls that fail with ENOSYS, as though the kernel lacked them: the filter can't see the arguments of `clone3`, and
glibc falls back to `clone`."""

GPU_DRIVER: dict[str, tuple[int | None, int | None]] = {
    "eventfd2": (290, 19),
    "get_mempolicy": (239, 236),
    "mbind": (237, 235),
    "membarrier": (324, 283),
    "pipe2": (293, 59),
    "prctl": (157, 167),  # checked
    "set_mempolicy": (238, 237),
}
"""Additional calls of a GPU's driver. It also opens files, which only Landlock then denies, calls any `ioctl` of its
devices, and shares pages with them, so this filter is weaker than the one without a GPU."""

UNCHECKED_WITH_GPU = ("ioctl", "madvise", "mmap")
"""Calls whose arguments are not checked with a GPU, because its driver uses them in its own ways."""

MAP_SHARED, MAP_GROWSDOWN, MAP_HUGETLB = 1, 0x100, 0x40000  # MAP_SHARED_VALIDATE has the first one's bit, too
THREAD_FLAGS = 0x3D0F00  # what glibc makes a thread with: all shared, CLONE_THREAD, no namespace, no signal at its end
MADVICE = (0, 1, 2, 3, 4, 8, 14, 15)  # of use and huge pages; none that merges a page with a neighbour's
TCGETS = 0x5401
F_DUPFD_TO_SETFL, F_DUPFD_CLOEXEC = (0, 1, 2, 3, 4), 1030
PR_SET_NAME, PR_GET_NAME = 15, 16  # of a thread
CLOCK_OF_A_PROCESS = 1 << 31  # the clock's number is negative
ARCH_XCOMP_PERM = (0x1022, 0x1023)  # which of AMX it may use, and that it would: oneDNN asks

_LOAD, _AND, _EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCH = 0, 4  # offsets in struct seccomp_data
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER, _TSYNC = 1, 1

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class ArgumentCondition:
    """A condition on a call's arguments: 32 bits of struct seccomp_data, masked, equal one of the values."""

    offset: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


def low_half_offset(argument: int) -> int:
    """Offset of the lower half of an argument. The kernel reads only this half of an int."""
    return 16 + 8 * argument


def high_half_offset(argument: int) -> int:
    """Offset of the upper half of an argument."""
    return 20 + 8 * argument


def argument_conditions(pid: int) -> dict[str, tuple[ArgumentCondition, ...]]:
    """The conditions that a call's arguments have to meet; otherwise the call is refused."""
    own = ArgumentCondition(low_half_offset(0), (0, pid))
    clock = ArgumentCondition(low_half_offset(0), (0,), CLOCK_OF_A_PROCESS)
    return {
        "arch_prctl": (ArgumentCondition(low_half_offset(0), ARCH_XCOMP_PERM),),
        "clock_getres": (clock,),
        "clock_gettime": (clock,),
        "clock_nanosleep": (clock,),
        "clone": (ArgumentCondition(low_half_offset(0), (THREAD_FLAGS,)),),
        "fcntl": (ArgumentCondition(low_half_offset(1), (*F_DUPFD_TO_SETFL, F_DUPFD_CLOEXEC)),),
        "ioctl": (ArgumentCondition(low_half_offset(1), (TCGETS,)),),
        "madvise": (ArgumentCondition(low_half_offset(2), MADVICE),),
        "mmap": (
            ArgumentCondition(low_half_offset(3), (0,), MAP_SHARED | MAP_GROWSDOWN | MAP_HUGETLB),
        ),  # would not count as its data
        "prctl": (ArgumentCondition(low_half_offset(0), (PR_SET_NAME, PR_GET_NAME)),),
        "prlimit64": (
            own,
            ArgumentCondition(low_half_offset(2), (0,)),
            ArgumentCondition(high_half_offset(2), (0,)),
        ),  # reads: no new limit is given
        "sched_getaffinity": (own,),
        "tgkill": (ArgumentCondition(low_half_offset(0), (pid,)),),
    }


def build_filter_program(pid: int, machine: str = os.uname().machine, gpu: bool = False) -> bytes:
    """The filter for the process `pid`, as an array of struct sock_filter.

    A call's number is compared for equality, so no x32 call (0x40000000 and up) passes. Raises OSError if this machine
    has no list of system calls.

    gpu: allow what a GPU's driver needs; Landlock then has to deny the files
    """
    if machine not in AUDIT_ARCH_OF_MACHINE:
        raise OSError(errno.ENOSYS, f"there is no list of system calls for {machine}")
    column, arch = AUDIT_ARCH_OF_MACHINE[machine]
    checked = {
        name: rules for name, rules in argument_conditions(pid).items() if not gpu or name not in UNCHECKED_WITH_GPU
    }
    allowed = ALLOWED_CALLS | GPU_DRIVER | HIDDEN_CALLS if gpu else ALLOWED_CALLS
    parts = [
        _load_instruction(_ARCH),
        _compare_instruction(arch, 1, 0),
        _refuse_instruction(errno.EPERM),
        _load_instruction(_NUMBER),
    ]
    for name, numbers in allowed.items():
        parts += _call_rule(numbers[column], _rule_body(checked.get(name, ())))
    for numbers in HIDDEN_CALLS.values():
        parts += _call_rule(numbers[column], [_refuse_instruction(errno.ENOENT)])
    for numbers in ABSENT_CALLS.values():
        parts += _call_rule(numbers[column], [_refuse_instruction(errno.ENOSYS)])
    return b"".join((*parts, _refuse_instruction(errno.EPERM)))


def install_filter(filter_: bytes) -> None:
    """Put all threads under the filter, for good. Needs no_new_privs. Raises OSError."""
    number = _SECCOMP[os.uname().machine]
    filter_program = _FilterProgram(len(filter_) // 8, filter_)
    if _libc.syscall(ctypes.c_long(number), _SET_MODE_FILTER, _TSYNC, ctypes.byref(filter_program)) != 0:
        error = ctypes.get_errno() or errno.ESRCH  # a thread that can't be put under it is told by its number
        raise OSError(error, os.strerror(error))


class _FilterProgram(ctypes.Structure):
    """The C struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _call_rule(number: int | None, body: list[bytes]) -> list[bytes]:
    """Instructions that run the body for this call. For any other call they skip the body and keep its number
    loaded."""
    return [] if number is None else [_compare_instruction(number, 0, len(body)), *body]


def _rule_body(conditions: tuple[ArgumentCondition, ...]) -> list[bytes]:
    body = []
    for condition in conditions:
        body += [_load_instruction(condition.offset), struct.pack("=HBBI", _AND, 0, 0, condition.mask)]
        body += [_compare_instruction(value, len(condition.values) - k, 0) for k, value in enumerate(condition.values)]
        body.append(_refuse_instruction(errno.EPERM))
    return [*body, struct.pack("=HBBI", _RETURN, 0, 0, _ALLOW)]


def _load_instruction(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _compare_instruction(value: int, then: int, otherwise: int) -> bytes:
    """Compare; skip `then` instructions if equal, else `otherwise`."""
    return struct.pack("=HBBI", _EQUAL, then, otherwise, value)


def _refuse_instruction(error: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, _ERRNO | error)
