"""The confinement of a run's process: its layers, each tried on this host before anything is left to it.

As an ordinary user the server has no user to change from, and the children share its own; then Landlock and the filter
of system calls keep them apart from each other and from it. What was ever in the first process's memory, a child can
read: nothing secret is to be given to it.
"""

import contextlib
import ctypes
import mmap
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from server.worker import landlock, seccomp

TRIAL = 5.0
"""Seconds within which a layer has to be entered, or it does not work on this host."""

DESCRIPTORS, SIGNALS = 16, 64
"""What a child may have open, and what may wait for it."""

TASKS, ROOM = 256, 1024
"""Threads and processes of a user that is the child's own; how many more a shared user may have than at the start."""

_PR_SET_PDEATHSIG, _PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 1, 3, 4
_PR_SET_NO_NEW_PRIVS, _PR_GET_NO_NEW_PRIVS = 38, 39
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Child:
    """What a process is left with. memory: bytes on top of what it has; cpu: seconds; tasks: of its user, all in all.

    gpu: it works with one. landlocked: its files are kept by Landlock.
    """

    keep: frozenset[int]
    memory: int
    cpu: int
    tasks: int
    uid: int
    gpu: bool = False
    landlocked: bool = False


@dataclass(frozen=True)
class Layer:
    """Something that is taken from a process for good.

    enter: takes it, or raises. bites: whether it is gone, asked in a process that has just entered. needs: another one's
    name, without which it can't be entered.
    """

    name: str
    enter: Callable[[Child], object]
    bites: Callable[[Child], bool]
    needs: str = ""


def close_descriptors(child: Child) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    for descriptor in descriptors() - child.keep - {0, 1, 2}:
        os.close(descriptor)


def descriptors() -> set[int]:
    listed = {int(path.name) for path in Path("/proc/self/fd").iterdir()}
    return {one for one in listed if not refused(os.fstat, one)}  # without the one that listed them


def clear_environment(_: Child) -> None:
    os.environ.clear()
    os.chdir("/")
    os.umask(0o077)


def bound_resources(child: Child) -> None:
    pages = [int(count) for count in Path("/proc/self/statm").read_text().split()]
    size, data = pages[0] * mmap.PAGESIZE, pages[5] * mmap.PAGESIZE
    if not child.gpu:  # whose driver lays out all of the machine's addresses
        bound(resource.RLIMIT_AS, size + child.memory)  # also what is shared, which is not counted as data
    bound(resource.RLIMIT_DATA, data + child.memory)
    bound(resource.RLIMIT_CPU, child.cpu, child.cpu + 1)
    bound(resource.RLIMIT_NPROC, child.tasks)
    bound(resource.RLIMIT_NOFILE, DESCRIPTORS)
    bound(resource.RLIMIT_SIGPENDING, SIGNALS)
    for none in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
        bound(none, 0)


def bound(which: int, soft: int, hard: int | None = None) -> None:
    """Sets a limit, or leaves the one that is there where that is lower."""
    ceiling = resource.getrlimit(which)[1] % (1 << 64)  # -1 is no limit
    resource.setrlimit(which, (min(soft, ceiling), min(soft if hard is None else hard, ceiling)))


def change_user(child: Child) -> None:
    if os.geteuid() != 0:
        raise PermissionError(1, "the server does not run as root")
    parent = os.getppid()
    os.setgroups([])
    os.setresgid(child.uid, child.uid, child.uid)
    os.setresuid(child.uid, child.uid, child.uid)
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # another user, and the kernel forgets it
    if os.getppid() != parent:
        os._exit(1)


def gain_nothing(_: Child) -> None:
    """No program that it starts has more rights, and it has no capability itself."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if _libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def capabilities() -> int:
    return int(Path("/proc/self/status").read_text().split("CapPrm:")[1].split()[0], 16)


def prctl(option: int, argument: int = 0) -> int:
    result: int = _libc.prctl(option, *(ctypes.c_ulong(one) for one in (argument, 0, 0, 0)))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def refused(act: Callable[..., Any], *arguments: Any) -> bool:
    try:
        act(*arguments)
    except OSError:
        return True
    return False


def deny_files(child: Child) -> None:
    if not child.gpu:
        landlock.restrict(CHANCE)
        return
    libraries = [path for path in (*LIBRARIES, sys.prefix, sys.base_prefix) if os.access(path, os.R_OK)]
    landlock.restrict(
        [*CHANCE, *libraries], [str(path) for path in Path("/dev").glob("nvidia*") if path.is_char_device()]
    )


CHANCE = [path for path in ("/dev/urandom",) if os.access(path, os.R_OK)]
"""What `torch.seed()` reads: nobody's secret, and nothing is kept by it."""

LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/cuda", "/usr/local/nvidia", "/lib", "/lib64", "/proc", "/sys")
"""What a GPU's driver reads while it works."""

AFTER_GPU = ("environment", "rlimits", "seccomp")
"""Layers that a GPU's driver can't be started under."""

LAYERS = (
    Layer("descriptors", close_descriptors, lambda child: descriptors() == child.keep | {0, 1, 2}),
    Layer("environment", clear_environment, lambda _: not _libc.getenv(b"TRIAL") and not os.environ),
    Layer("rlimits", bound_resources, lambda child: refused(mmap.mmap, -1, child.memory + mmap.PAGESIZE)),
    Layer("uid", change_user, lambda child: os.getresuid() == (child.uid,) * 3 and refused(os.setuid, 0)),
    Layer("no_new_privs", gain_nothing, lambda _: prctl(_PR_GET_NO_NEW_PRIVS) == 1 and not capabilities()),
    Layer("not_dumpable", lambda _: prctl(_PR_SET_DUMPABLE, 0), lambda _: prctl(_PR_GET_DUMPABLE) == 0),
    Layer("landlock", deny_files, lambda _: refused(os.listdir, "/"), "no_new_privs"),
    Layer(
        "seccomp",
        lambda child: seccomp.load(seccomp.program(os.getpid(), gpu=child.gpu, chance=child.landlocked)),
        lambda _: refused(socket.socket),
        "no_new_privs",
    ),
)
"""In the order in which they are entered: a change of the user may make a process dumpable again, and after Landlock
and the filter of system calls nothing can be opened or changed."""


class Confinement:
    """What the children of a process are confined by. Made once, by the first process, as the user it runs as.

    layers: what `probe` found. memory: bytes that a run may take on top of what its process begins with. cpu: seconds.
    first_uid: the user of the child in slot 0, where the server runs as root. gpu: the children work with one; they get
    it between Landlock, which covers one thread and those that it starts, and the limits.
    """

    def __init__(
        self, layers: Mapping[str, str], memory: int, cpu: int, first_uid: int, gpu: Callable[[], None] | None = None
    ) -> None:
        self._layers = [layer for layer in LAYERS if not layers[layer.name]]
        self._memory, self._cpu, self._first, self._gpu = memory, cpu, first_uid, gpu
        self._tasks = TASKS if not layers["uid"] else tasks_of(os.geteuid()) + ROOM

    def enter(self, keep: Iterable[int], slot: int) -> None:
        """Confine the calling process, for good; it has one thread. Where a layer fails it raises: don't go on.

        keep: the descriptors, none of them a standard one, that stay open. slot: a number that no other child has now.
        """
        kept = any(layer.name == "landlock" for layer in self._layers)
        uid, gpu = self._first + slot, self._gpu is not None
        child = Child(frozenset(keep), self._memory, self._cpu, self._tasks, uid, gpu, kept)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")  # the first to go where memory runs out
        os.setsid()
        late = [layer for layer in self._layers if self._gpu is not None and layer.name in AFTER_GPU]
        for layer in self._layers:
            if layer not in late:
                layer.enter(child)
        if self._gpu is not None:
            self._gpu()
        for layer in late:
            layer.enter(child)


def tasks_of(uid: int) -> int:
    """How many threads a user has, as far as /proc shows them."""
    count = 0
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if path.stat().st_uid == uid:
                count += sum(1 for _ in (path / "task").iterdir())
    return count


def probe() -> dict[str, str]:
    """Of each layer "" where it works on this host, or a sentence why it does not."""
    return {layer.name: trial(layer) for layer in LAYERS}


def missing(layers: Mapping[str, str]) -> dict[str, str]:
    """What `require` refuses to go on without: all that does not work, but for the user where there is none to change."""
    return {name: why for name, why in layers.items() if why and (name != "uid" or os.geteuid() == 0)}


def trial(layer: Layer) -> str:
    """Try a layer in a child that does nothing else, and tell what came of it."""
    answer, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        attempt(layer, told)
    os.close(told)
    try:
        if not select.select([answer], [], [], TRIAL)[0]:
            os.kill(pid, signal.SIGKILL)
        said = os.read(answer, 1 << 12).decode(errors="replace")
    finally:
        os.close(answer)
        _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return said if code == 0 else f"a process that tried it ended with {code}"


def attempt(layer: Layer, told: int) -> NoReturn:
    """Never returns. Exits with 0 once it has told what came of it."""
    try:
        os.environ["TRIAL"] = "1"
        child = Child(frozenset({told}), memory=64 << 20, cpu=60, tasks=TASKS, uid=60_999)
        try:
            for before in LAYERS:
                if before.name == layer.needs:
                    before.enter(child)
            layer.enter(child)
            said = "" if layer.bites(child) else "it was entered and changed nothing"
        except Exception as error:
            said = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        os.write(told, said.encode())
        os._exit(0)
    finally:
        os._exit(1)
