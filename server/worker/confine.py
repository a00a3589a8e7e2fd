"""The confinement of a child process in layers. Each layer is tried on this host before anything depends on it.

If the server does not run as root, the children share its user; Landlock and the system call filter then keep them
apart from each other and from the server. A child can read everything that was ever in the zygote's memory: never give
the zygote a secret.
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

TRIAL_TIMEOUT = 5.0
"""Seconds within which a layer has to be applied; otherwise it counts as not working on this host."""

MAX_DESCRIPTORS, MAX_SIGNALS = 16, 64
"""Descriptors that a child may have open, and signals that may be queued for it."""

MAX_GPU_DESCRIPTORS = 1024
"""Descriptors of a child with a GPU, whose driver opens its devices again for each piece of memory that it maps."""

MAX_TASKS, EXTRA_TASKS = 256, 1024
"""Threads and processes of a child's user: at most MAX_TASKS if the child has a user of its own; if the user is shared,
EXTRA_TASKS more than there already are."""

_PR_SET_PDEATHSIG, _PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 1, 3, 4
_PR_SET_NO_NEW_PRIVS, _PR_GET_NO_NEW_PRIVS = 38, 39
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class ChildRestrictions:
    """The limits of a child.

    kept_descriptors: descriptors that stay open besides the standard ones
    memory: bytes that it may allocate on top of what it has
    cpu: seconds of processor time
    max_tasks: threads and processes of its user in total
    uid: the user that it becomes
    gpu: whether it works with a GPU
    """

    kept_descriptors: frozenset[int]
    memory: int
    cpu: int
    max_tasks: int
    uid: int
    gpu: bool = False


@dataclass(frozen=True)
class ConfinementLayer:
    """One restriction that a process can't undo.

    apply: applies it to the calling process; raises if it can't
    is_effective: whether it holds, asked in a process that has just applied it
    requires: the name of a layer that has to be applied before
    """

    name: str
    apply: Callable[[ChildRestrictions], object]
    is_effective: Callable[[ChildRestrictions], bool]
    requires: str = ""


def close_inherited_descriptors(restrictions: ChildRestrictions) -> None:
    devnull = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(devnull, standard)
    for descriptor in list_open_descriptors() - restrictions.kept_descriptors - {0, 1, 2}:
        os.close(descriptor)


def list_open_descriptors() -> set[int]:
    """The descriptors that this process has open."""
    listed = {int(path.name) for path in Path("/proc/self/fd").iterdir()}
    return {number for number in listed if not raises_os_error(os.fstat, number)}  # without the one that listed them


def clear_environment() -> None:
    """Clear the environment, except for what hides the GPU from the driver, which reads the environment itself. The
    program sees none of it."""
    os.environ.clear()
    os.putenv("CUDA_VISIBLE_DEVICES", "")


def reset_environment_and_directory(restrictions: ChildRestrictions) -> None:
    if restrictions.gpu:  # the GPU is initialized, and the driver has read what it wants
        os.environ.clear()
    else:
        clear_environment()
    os.chdir("/")
    os.umask(0o077)


def limit_resources(restrictions: ChildRestrictions) -> None:
    pages = [int(count) for count in Path("/proc/self/statm").read_text().split()]
    size, data = pages[0] * mmap.PAGESIZE, pages[5] * mmap.PAGESIZE
    if not restrictions.gpu:  # whose driver lays out all of the machine's addresses
        lower_resource_limit(
            resource.RLIMIT_AS, size + restrictions.memory
        )  # also what is shared, which is not counted as data
    lower_resource_limit(resource.RLIMIT_DATA, data + restrictions.memory)
    lower_resource_limit(resource.RLIMIT_CPU, restrictions.cpu, restrictions.cpu + 1)
    lower_resource_limit(resource.RLIMIT_NPROC, restrictions.max_tasks)
    lower_resource_limit(resource.RLIMIT_NOFILE, MAX_GPU_DESCRIPTORS if restrictions.gpu else MAX_DESCRIPTORS)
    lower_resource_limit(resource.RLIMIT_SIGPENDING, MAX_SIGNALS)
    for unused in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
        lower_resource_limit(unused, 0)


def lower_resource_limit(resource_limit: int, soft: int, hard: int | None = None) -> None:
    """Set a resource limit, but never above the current hard limit."""
    ceiling = resource.getrlimit(resource_limit)[1] % (1 << 64)  # -1 is no limit
    resource.setrlimit(resource_limit, (min(soft, ceiling), min(soft if hard is None else hard, ceiling)))


def change_user(restrictions: ChildRestrictions) -> None:
    if os.geteuid() != 0:
        raise PermissionError(1, "the server does not run as root")
    parent = os.getppid()
    os.setgroups([])
    os.setresgid(restrictions.uid, restrictions.uid, restrictions.uid)
    os.setresuid(restrictions.uid, restrictions.uid, restrictions.uid)
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # another user, and the kernel forgets it
    if os.getppid() != parent:
        os._exit(1)


def drop_privileges(_: ChildRestrictions) -> None:
    """Drop all capabilities, and any way to gain them by executing a program."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if _libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def read_permitted_capabilities() -> int:
    return int(Path("/proc/self/status").read_text().split("CapPrm:")[1].split()[0], 16)


def prctl(option: int, argument: int = 0) -> int:
    """Call `prctl`. Raises OSError."""
    result: int = _libc.prctl(option, *(ctypes.c_ulong(value) for value in (argument, 0, 0, 0)))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def raises_os_error(call: Callable[..., Any], *arguments: Any) -> bool:
    """Whether the call raises OSError."""
    try:
        call(*arguments)
    except OSError:
        return True
    return False


def deny_files_with_landlock(restrictions: ChildRestrictions) -> None:
    if not restrictions.gpu:
        landlock.restrict_with_landlock()
        return
    readable = [path for path in (*GPU_LIBRARIES, sys.prefix, sys.base_prefix) if os.access(path, os.R_OK)]
    landlock.restrict_with_landlock(
        readable, [str(path) for path in Path("/dev").glob("nvidia*") if path.is_char_device()]
    )


GPU_LIBRARIES = (
    "/dev/urandom",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/cuda",
    "/usr/local/nvidia",
    "/lib",
    "/lib64",
    "/proc",
    "/sys",
)
"""Paths that torch and a GPU's driver read while they work, including everything below directories, and a source of
random bytes."""

LAYERS_AFTER_GPU = ("landlock", "environment", "rlimits", "seccomp")
"""Layers that are applied after the GPU is initialized, in this order, because its driver can't start under them."""

LAYERS = (
    ConfinementLayer(
        "descriptors",
        close_inherited_descriptors,
        lambda restrictions: list_open_descriptors() == restrictions.kept_descriptors | {0, 1, 2},
    ),
    ConfinementLayer(
        "environment", reset_environment_and_directory, lambda _: not _libc.getenv(b"GRADBOX_TRIAL") and not os.environ
    ),
    ConfinementLayer(
        "rlimits",
        limit_resources,
        lambda restrictions: raises_os_error(mmap.mmap, -1, restrictions.memory + mmap.PAGESIZE),
    ),
    ConfinementLayer(
        "uid",
        change_user,
        lambda restrictions: os.getresuid() == (restrictions.uid,) * 3 and raises_os_error(os.setuid, 0),
    ),
    ConfinementLayer(
        "no_new_privs",
        drop_privileges,
        lambda _: prctl(_PR_GET_NO_NEW_PRIVS) == 1 and not read_permitted_capabilities(),
    ),
    ConfinementLayer("not_dumpable", lambda _: prctl(_PR_SET_DUMPABLE, 0), lambda _: prctl(_PR_GET_DUMPABLE) == 0),
    ConfinementLayer("landlock", deny_files_with_landlock, lambda _: raises_os_error(os.listdir, "/"), "no_new_privs"),
    ConfinementLayer(
        "seccomp",
        lambda restrictions: seccomp.install_filter(seccomp.build_filter_program(os.getpid(), gpu=restrictions.gpu)),
        lambda _: raises_os_error(socket.socket),
        "no_new_privs",
    ),
)
"""All layers in the order in which they are applied. Changing the user may make a process dumpable again, and after
Landlock and the system call filter nothing can be opened or changed."""


class Confinement:
    """How the children of a process are confined. Made once, by the zygote, as the user it runs as.

    layers: the result of `try_layers`
    memory: bytes that a run may take on top of what its process begins with
    cpu: seconds of processor time
    first_uid: the user of the child in slot 0, if the server runs as root
    initialize_gpu, warm_up_gpu: functions that make the GPU ready, if the children work with one. The first runs before
        Landlock is applied: the driver's own threads, which never run a program's code, start there. The second runs
        after it and starts the threads that do, because Landlock covers the calling thread and the threads it starts.
    """

    def __init__(
        self,
        layers: Mapping[str, str],
        memory: int,
        cpu: int,
        first_uid: int,
        initialize_gpu: Callable[[], None] | None = None,
        warm_up_gpu: Callable[[], None] | None = None,
    ) -> None:
        self._layers = [layer for layer in LAYERS if not layers[layer.name]]
        self._memory, self._cpu, self._first_uid = memory, cpu, first_uid
        self._initialize_gpu, self._warm_up_gpu = initialize_gpu, warm_up_gpu
        self._tasks = MAX_TASKS if not layers["uid"] else thread_count_of_user(os.geteuid()) + EXTRA_TASKS

    def confine_process(self, kept_descriptors: Iterable[int], slot: int) -> None:
        """Confine the calling process for good; it must have one thread. If this raises, the process must not go on.

        kept_descriptors: the descriptors, none of them a standard one, that stay open
        slot: a number that no other living child has
        """
        uid, gpu = self._first_uid + slot, self._initialize_gpu is not None
        restrictions = ChildRestrictions(frozenset(kept_descriptors), self._memory, self._cpu, self._tasks, uid, gpu)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")  # the first to go where memory runs out
        os.setsid()
        late = LAYERS_AFTER_GPU if gpu else ()
        layers = {layer.name: layer for layer in self._layers}
        for name, layer in layers.items():
            if name not in late:
                layer.apply(restrictions)
        if self._initialize_gpu is not None:
            self._initialize_gpu()
        for name in late:
            if name in layers:
                layers[name].apply(restrictions)
            if name == "landlock" and self._warm_up_gpu is not None:
                self._warm_up_gpu()


def thread_count_of_user(uid: int) -> int:
    """The number of threads of a user's processes, as far as /proc shows them."""
    count = 0
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if path.stat().st_uid == uid:
                count += sum(1 for _ in (path / "task").iterdir())
    return count


def try_layers() -> dict[str, str]:
    """Try each layer on this host. Returns for each name "" if the layer works, else a sentence that says why it does
    not."""
    return {layer.name: try_layer(layer) for layer in LAYERS}


def missing_layers(layers: Mapping[str, str]) -> dict[str, str]:
    """The layers that do not work and without which `require` forbids a start. Only root needs the layer `uid`."""
    return {name: why for name, why in layers.items() if why and (name != "uid" or os.geteuid() == 0)}


def try_layer(layer: ConfinementLayer) -> str:
    """Try a layer in a forked process. Returns "" if it works, else a sentence that says why it does not."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try_layer_and_exit(layer, writer)
    os.close(writer)
    try:
        if not select.select([reader], [], [], TRIAL_TIMEOUT)[0]:
            os.kill(pid, signal.SIGKILL)
        reason = os.read(reader, 1 << 12).decode(errors="replace")
    finally:
        os.close(reader)
        _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return reason if code == 0 else f"a process that tried it ended with {code}"


def try_layer_and_exit(layer: ConfinementLayer, writer: int) -> NoReturn:
    """Apply a layer, and write why it does not work, or nothing. Never returns; exits with 0 once that is written."""
    try:
        os.environ["GRADBOX_TRIAL"] = "1"
        restrictions = ChildRestrictions(frozenset({writer}), memory=64 << 20, cpu=60, max_tasks=MAX_TASKS, uid=60_999)
        try:
            for required in LAYERS:
                if required.name == layer.requires:
                    required.apply(restrictions)
            layer.apply(restrictions)
            reason = "" if layer.is_effective(restrictions) else "it was entered and changed nothing"
        except Exception as error:
            reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        os.write(writer, reason.encode())
        os._exit(0)
    finally:
        os._exit(1)
