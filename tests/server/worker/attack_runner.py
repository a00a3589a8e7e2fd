"""Runs the programs of tests.server.worker.attacks: `python -m tests.server.worker.attack_runner WAYS UID...`, WAYS are
some of `confined`, `loose` and `loops`, with commas.

Each runs in a child of its own, as root or as the user UID. Prints for each way and user how each ended as JSON:
`succeeded` (it came to its end), `raised TYPE: ...`, `died SIGNAL`, or `outlived` its time.
"""

import contextlib
import ctypes
import importlib
import itertools
import json
import mmap
import os
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import numpy
import torch

from server.worker import confine, generator_seed
from tests.forks.huge_pages import join_pages
from tests.server.worker.attacks import ATTACKS, ENDS, LOOPS, OF_ROOT, PROGRAMS, UNTRIED, X86

CONFINED_UID = 62_000
"""No user of the pools of tests beside this one: the kernel counts the threads of a user, whoever started them."""

MODULES = """asyncio ctypes encodings.idna faulthandler fcntl io multiprocessing multiprocessing.popen_fork multiprocessing.queues
multiprocessing.synchronize multiprocessing.util numpy os random resource socket subprocess sys tempfile threading time torch torch._dynamo
torch.utils.cpp_extension torch.utils.data torch.utils.file_baton traceback"""  # noqa: E501
"""What is imported before anything is confined: no attack is to fail because of an import."""

WALL = 10.0
"""Seconds after which the runner kills."""
NUMBERS = {
    name: pair[0 if X86 else 1]
    for name, pair in {
        "add_key": (248, 217),
        "bpf": (321, 280),
        "clone": (56, 220),
        "get_robust_list": (274, 100),
        "ioprio_set": (251, 30),
        "kcmp": (312, 272),
        "keyctl": (250, 219),
        "madvise": (28, 233),
        "mmap": (9, 222),
        "perf_event_open": (298, 241),
        "rt_sigqueueinfo": (129, 138),
        "rt_tgsigqueueinfo": (297, 240),
        "seccomp": (317, 277),
        "set_mempolicy": (238, 237),
        "setrlimit": (160, 164),
        "tgkill": (234, 131),
        "tkill": (200, 130),
        "userfaultfd": (323, 282),
    }.items()
} | {
    "clone3": 435,
    "fsopen": 430,
    "io_uring_setup": 425,
    "memfd_secret": 447,
    "openat2": 437,
    "pidfd_getfd": 438,
    "pidfd_open": 434,
    "process_madvise": 440,
}

libc = ctypes.CDLL(None, use_errno=True)
BUFFER = ctypes.create_string_buffer(b"s3cr3t")
RETURN_ALLOW = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
SLOT = 0


def c(function: str, *arguments: Any) -> int:
    """A function of libc; an error is an OSError."""
    libc_function = getattr(libc, function)
    libc_function.restype = ctypes.c_long if function == "sbrk" else ctypes.c_int
    return checked(
        libc_function(*(ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments))
    )


def call(name: str, *arguments: Any) -> int:
    """A system call, past libc."""
    libc.syscall.restype = ctypes.c_long
    return checked(
        libc.syscall(
            *(
                ctypes.c_long(argument) if isinstance(argument, int) else argument
                for argument in (NUMBERS[name], *arguments)
            )
        )
    )


def error_of_opening(path: str) -> int:
    """The error of opening a file in the barest way; 0 without one."""
    try:
        os.close(c("openat", -100, path.encode(), os.O_RDONLY))
    except OSError as error:
        return error.errno or 0
    return 0


def checked(result: int) -> int:
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def fail() -> NoReturn:
    raise AssertionError


def loop() -> NoReturn:
    while True:
        pass


def in_a_thread(act: Callable[[], object]) -> None:
    """Run to its end; what it raised is raised again."""
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            act()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def is_open(descriptor: int) -> bool:
    try:
        os.close(os.dup(descriptor))
    except OSError:
        return False
    return True


def vm(function: str, pid: int) -> bytes:
    """Read or write the six bytes of a process that lie where ours lie."""
    buffer = ctypes.create_string_buffer(b"s3cr3t")
    local, remote = (struct.pack("2Q", ctypes.addressof(memory), 6) for memory in (buffer, BUFFER))
    c(function, pid, local, 1, remote, 1, 0)
    return buffer.value


def machine_code(code: bytes) -> int:
    pages = mmap.mmap(
        -1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    )
    pages.write(code)
    return int(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(pages)))())


def world(folder: Path) -> dict[str, Any]:
    """What the programs find: the names of this module, and something of the parent's of each kind."""
    for name, text in (("secret", "s3cr3t"), ("other", ""), ("doomed", ""), ("late.py", "")):
        (folder / name).write_text(text)
    torch.save(torch.ones(3), folder / "tensor.pt")
    numpy.save(folder / "array.npy", numpy.ones(3))
    listener, path, abstract = socket.socket(), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    listener.bind(("127.0.0.1", 0))
    path.bind(str(folder / "socket"))
    abstract.bind(f"\0gradbox-{os.getpid()}")
    for listening in (listener, path, abstract):
        listening.listen(64)
    modules = {name.partition(".")[0]: importlib.import_module(name.partition(".")[0]) for name in MODULES.split()}
    return (
        globals()
        | modules
        | {
            "PLACE": str(folder),
            "SECRET": str(folder / "secret"),
            "OTHER": str(folder / "other"),
            "OPEN": os.open(folder / "secret", os.O_RDONLY),
            "PIDFD": os.pidfd_open(os.getpid()),
            "LISTENER": listener.fileno(),
            "PORT": listener.getsockname()[1],
            "ABSTRACT": abstract.getsockname(),
            "SOCKETS": (listener, path, abstract),
            "PARENT": os.getpid(),
            "GROUP": os.getpgrp(),
            "ADDRESS": ctypes.addressof(BUFFER),
            "PASS": struct.pack("HxxxxxxQ", 1, ctypes.addressof(RETURN_ALLOW)),
            "LIBRARY": str(Path(torch.__file__).parent / "lib/libaoti_custom_ops.so"),
        }
    )


class Runner:
    """Runs programs, each in a child that enters the confinement, or in one that is not confined."""

    def __init__(self, names: dict[str, Any], confinement: confine.Confinement | None) -> None:
        self._names, self._confinement = names, confinement

    def neighbour(self) -> int:
        """A process that is confined in the same way, until it is killed."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._child("os.write(KEPT, b'.')\nwhile True: time.sleep(9)", writer)
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        return pid

    def outcome(self, code: str, wall: float = WALL) -> str:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._child(code, writer)
        os.close(writer)
        descriptor = os.pidfd_open(pid)
        late = not select.select([descriptor], [], [], wall)[0]
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        os.set_blocking(reader, False)
        written = b""
        with contextlib.suppress(BlockingIOError):
            written = os.read(reader, 1 << 12)
        os.close(reader)
        os.close(descriptor)
        if late:
            return "outlived"
        if os.WIFSIGNALED(status):
            return f"died {signal.Signals(os.WTERMSIG(status)).name}"
        return written.decode(errors="replace").strip()

    def _child(self, code: str, writer: int) -> NoReturn:
        end = "was not confined"
        try:
            os.set_inheritable(writer, True)
            if self._confinement is not None:
                self._confinement.confine_process((writer,), SLOT)
            else:
                unconfined()
            end = "succeeded"
            exec(code, {**self._names, "KEPT": writer})
        except BaseException as error:
            end = f"{'raised' if end == 'succeeded' else end} {type(error).__name__}: {error}"[:300]
        finally:
            os.write(writer, end.encode())
            os._exit(0)


def unconfined() -> None:
    """Where nothing it prints is in the way."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)


def become(uid: int) -> None:
    """Go on as another user, like a process that this user has started."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    c("prctl", 4, 1, 0, 0, 0)


def prepare() -> None:
    """Import, as the process does that the children are forked from."""
    torch.set_num_threads(1)
    generator_seed.replace_seed_method()
    for name in MODULES.split():
        importlib.import_module(name)


def outcomes(uid: int, way: str, endless: Iterable[str]) -> dict[str, dict[str, str]]:
    """Of all programs, by kind and name; where the way is `loops`, of those that do not end alone. This process becomes
    the user.

    endless: the names of those of ENDS that are run
    """
    confined = way != "loose"
    if uid != os.getuid():
        become(uid)
    folder = Path(tempfile.mkdtemp())
    names = world(folder)
    layers = confine.try_layers()
    short, long = (confine.Confinement(layers, 1 << 30, cpu, CONFINED_UID) if confined else None for cpu in (1, 20))
    join_pages()
    names["NEIGHBOUR"] = Runner(names, long).neighbour()
    runner, patient = Runner(names, short), Runner(names, long)
    try:
        if not confined:
            tried = {
                name: code for name, code in ATTACKS.items() if name not in UNTRIED and (not uid or name not in OF_ROOT)
            }
            return {"attacks": {name: runner.outcome(code) for name, code in tried.items()}}
        ends = {name: runner.outcome(ENDS[name][0], 0.5 if ENDS[name][1] == "outlived" else WALL) for name in endless}
        if way == "loops":
            return {"ends": ends}
        return {
            "layers": layers,
            "attacks": {name: runner.outcome(code) for name, code in ATTACKS.items()},
            "ends": ends,
            "programs": {name: patient.outcome(code) for name, code in PROGRAMS.items()},
        }
    finally:
        os.kill(names["NEIGHBOUR"], signal.SIGKILL)
        shutil.rmtree(folder)


def main(ways: str, *users: str) -> int:
    """Print a line of JSON for each way and user, from a fork: both, and the outcomes; those of LOOPS for the first
    user, or with `loops`."""
    prepare()
    for way, uid in itertools.product(ways.split(","), users):
        pid = os.fork()
        if pid == 0:
            endless = LOOPS if way == "loops" else ENDS.keys() if uid == users[0] else ENDS.keys() - LOOPS
            print(json.dumps([f"{way} {uid}", outcomes(int(uid), way, endless)]), flush=True)
            os._exit(0)
        if os.waitpid(pid, 0)[1]:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
