"""Replaces the machine's files by files in memory, in this process, which belongs to a program. The functions of `os`
work on a tree in memory; numbers of real descriptors are passed to the kernel."""

import builtins
import bz2
import errno
import glob
import inspect
import io
import json
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, Self

from numpy.lib import _datasource
from torch.autograd import profiler

from server.worker.files.archives import use_file_tree_for_archives
from server.worker.files.file_tree import (
    HOME,
    Directory,
    File,
    FileTree,
    FileTreeNode,
    build_stat_result,
    make_os_error,
)
from server.worker.files.open_files import OpenFiles


class DirectoryEntry:
    """An entry of a directory, as `os.scandir` yields it."""

    def __init__(self, folder: str, name: str, node: FileTreeNode) -> None:
        self.name, self._node = name, node
        self.path = name if not folder else f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def __fspath__(self) -> str:
        return self.path

    def inode(self) -> int:
        return self._node.inode

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002 the signature of os.DirEntry
        return isinstance(self._node, Directory)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002
        return isinstance(self._node, File) and not self._node.is_null

    def is_symlink(self) -> bool:
        return False

    def is_junction(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002
        return build_stat_result(self._node)


class DirectoryEntries:
    """The iterator of `os.scandir`."""

    def __init__(self, entries: list[DirectoryEntry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[DirectoryEntry]:
        return self

    def __next__(self) -> DirectoryEntry:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


class OsReplacements:
    """The replacements of functions of `os`, under the same names and with the same arguments."""

    def __init__(self, tree: FileTree, files: OpenFiles) -> None:
        self._tree, self._files = tree, files
        self._real: dict[str, Callable[..., Any]] = {}

    def os_replacements(self) -> dict[str, Callable[..., Any]]:
        """The replacement of each function by its name in `os`. The interpreter's own functions are kept for real
        descriptors."""
        names = [name for name in vars(OsReplacements) if not name.startswith("_") and name != "os_replacements"]
        self._real = {name: getattr(os, name) for name in names}
        return {name: getattr(self, name) for name in names}

    def _find_node(self, path: Any, dir_fd: int | None = None) -> FileTreeNode:
        """Find the node at a path, which may be the number of an open file."""
        if isinstance(path, int):
            opened = self._files.find_open_file(path)
            if opened is None:
                raise make_os_error(errno.EBADF)
            return opened.node
        return self._tree.find_node(self._checked_path(path, dir_fd))

    def _checked_path(self, path: Any, dir_fd: int | None = None) -> Any:
        if dir_fd is not None and self._files.find_open_file(dir_fd) is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        return os.fspath(path)

    def stat(self, path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        if isinstance(path, int) and self._files.find_open_file(path) is None:
            return self._real["stat"](path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)  # type: ignore[no-any-return]
        return build_stat_result(self._find_node(path, dir_fd))

    def lstat(self, path: Any, *, dir_fd: int | None = None) -> os.stat_result:
        return build_stat_result(self._find_node(self._checked_path(path), dir_fd))

    def fstat(self, fd: int) -> os.stat_result:
        opened = self._files.find_open_file(fd)
        return self._real["fstat"](fd) if opened is None else build_stat_result(opened.node)

    def access(
        self, path: Any, mode: int, *, dir_fd: int | None = None, effective_ids: bool = False,
        follow_symlinks: bool = True
    ) -> bool:  # fmt: skip
        del effective_ids, follow_symlinks
        try:
            node = self._find_node(path, dir_fd)
        except OSError:
            return False
        return not mode & os.X_OK or isinstance(node, Directory) or bool(node.permissions & 0o111)

    def listdir(self, path: Any = ".") -> list[Any]:
        directory = self._find_directory(path)
        as_bytes = isinstance(path, bytes)
        return [os.fsencode(name) if as_bytes else name for name in directory.entries]

    def scandir(self, path: Any = ".") -> DirectoryEntries:
        directory = self._find_directory(path)
        folder = os.fsdecode(path) if not isinstance(path, int) else ""
        return DirectoryEntries([DirectoryEntry(folder, name, node) for name, node in directory.entries.items()])

    def _find_directory(self, path: Any) -> Directory:
        path = "." if path is None else path
        node = self._find_node(path)
        if not isinstance(node, Directory):
            raise make_os_error(errno.ENOTDIR, *(() if isinstance(path, int) else (os.fspath(path),)))
        return node

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        self._tree.make_directory(self._checked_path(path, dir_fd), mode)

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._tree.remove_directory(self._checked_path(path, dir_fd))

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._tree.remove_file(self._checked_path(path, dir_fd))

    def remove(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._tree.remove_file(self._checked_path(path, dir_fd))

    def rename(self, src: Any, dst: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        self._tree.rename(self._checked_path(src, src_dir_fd), self._checked_path(dst, dst_dir_fd))

    def replace(self, src: Any, dst: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        self._tree.rename(self._checked_path(src, src_dir_fd), self._checked_path(dst, dst_dir_fd))

    def readlink(self, path: Any, *, dir_fd: int | None = None) -> str:
        self._find_node(self._checked_path(path), dir_fd)
        raise make_os_error(errno.EINVAL, os.fspath(path))

    def chmod(self, path: Any, mode: int, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> None:
        del follow_symlinks
        self._find_node(path, dir_fd).permissions = mode & 0o7777

    def utime(
        self, path: Any, times: Any = None, *, ns: Any = None, dir_fd: int | None = None, follow_symlinks: bool = True
    ) -> None:  # fmt: skip
        del follow_symlinks
        node = self._find_node(path, dir_fd)
        now = time.time_ns()
        nanoseconds = tuple(int(at * 10**9) for at in times) if times is not None else ns or (now, now)
        node.accessed, node.modified = nanoseconds
        node.changed = now

    def listxattr(self, path: Any = None, *, follow_symlinks: bool = True) -> list[str]:
        del follow_symlinks
        self._find_node("." if path is None else path)
        return []

    def getcwd(self) -> str:
        return self._tree.current

    def getcwdb(self) -> bytes:
        return os.fsencode(self._tree.current)

    def chdir(self, path: Any) -> None:
        self._tree.change_directory(self._checked_path(path))

    # by descriptor

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        return self._files.os_open(self._checked_path(path, dir_fd), flags, mode)

    def close(self, fd: int) -> None:
        if self._files.find_open_file(fd) is None:
            self._real["close"](fd)
        else:
            self._files.close_descriptor(fd)

    def read(self, fd: int, length: int) -> bytes:
        opened = self._files.find_open_file(fd)
        return self._real["read"](fd, length) if opened is None else opened.read(length)

    def write(self, fd: int, data: Any) -> int:
        opened = self._files.find_open_file(fd)
        return self._real["write"](fd, data) if opened is None else opened.write(data)

    def lseek(self, fd: int, position: int, whence: int) -> int:
        opened = self._files.find_open_file(fd)
        return self._real["lseek"](fd, position, whence) if opened is None else opened.seek(position, whence)

    def ftruncate(self, fd: int, length: int) -> None:
        opened = self._files.find_open_file(fd)
        if opened is None:
            self._real["ftruncate"](fd, length)
        else:
            opened.truncate(length)

    def truncate(self, path: Any, length: int) -> None:
        if isinstance(path, int):
            self.ftruncate(path, length)
        else:
            node = self._tree.find_node(path)
            descriptor = self.open(path, os.O_WRONLY)
            self.ftruncate(descriptor, length)
            self.close(descriptor)
            node.update_modified_time()

    def fsync(self, fd: int) -> None:
        if self._files.find_open_file(fd) is None:
            self._real["fsync"](fd)

    def isatty(self, fd: int) -> bool:
        return self._files.find_open_file(fd) is None and bool(self._real["isatty"](fd))

    def get_inheritable(self, fd: int) -> bool:
        return self._files.find_open_file(fd) is None and bool(self._real["get_inheritable"](fd))


def install_files(files_of_packages: Mapping[str, bytes] | None = None) -> None:
    """Make `open`, the functions of `os` and torch's archives use a tree in memory, for good.

    This makes programs work; it confines nobody. The confinement denies access to the machine's files.

    files_of_packages: the initial content by path; the tree holds nothing else
    """
    files = OpenFiles(FileTree(), io.open)
    files.tree.add_files(files_of_packages or {})
    calls = OsReplacements(files.tree, files).os_replacements()
    replace_default_arguments(tempfile, {getattr(os, name): call for name, call in calls.items()})
    vars(os).update(calls)
    globber: Any = getattr(glob, "_StringGlobber", None)  # of pathlib, since Python 3.13
    if globber is not None:
        globber.lstat, globber.scandir = staticmethod(os.lstat), staticmethod(os.scandir)
    builtins.open = io.open = files.open  # type: ignore[assignment]
    bz2._builtin_open = tarfile.bltn_open = files.open  # type: ignore[attr-defined]
    _datasource._file_openers._file_openers[None] = files.open  # type: ignore[attr-defined]
    use_file_tree_for_archives(files)
    export_profiles_by_python()
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    os.environ["HOME"] = HOME


def export_profiles_by_python() -> None:
    """Make profilers write their traces with Python's `open`; by default C++ code writes to the disk."""
    export: FunctionType = vars(profiler.profile)["export_chrome_trace"]
    defaults = {name: p.default for name, p in inspect.signature(export).parameters.items() if p.default is not p.empty}
    if "use_python_export" in defaults:
        export.__defaults__ = (*(defaults | {"use_python_export": True}).values(),)
    else:  # torch 2.11
        profiler.profile.export_chrome_trace = _export_profiler_events  # type: ignore[assignment]


def _export_profiler_events(profile: Any, path: str) -> None:
    """Write a profiler's events in Chrome's format from Python. Replaces a method of torch's profiler, whose versions
    differ in where the events are."""
    profile._ensure_function_events()
    profile._function_events.export_chrome_trace(path)
    with open(path) as file:
        events = json.load(file)
    with open(path, "w") as file:
        json.dump({"traceEvents": events}, file)


def replace_default_arguments(module: Any, replacements: dict[Any, Any]) -> None:
    """Replace functions that are default values of parameters in the methods of a module's classes."""
    for kind in vars(module).values():
        for function in vars(kind).values() if isinstance(kind, type) else ():
            if isinstance(function, FunctionType) and function.__defaults__:
                function.__defaults__ = tuple(
                    replacements.get(value, value) if callable(value) else value for value in function.__defaults__
                )
