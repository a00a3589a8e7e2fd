"""The files and directories of a run: objects in the process's memory, found by their paths as Linux would find
them."""

import errno
import itertools
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HOME, TEMPORARY = "/home/learner", "/tmp"
"""The directory in which a program begins, and the one for temporary files."""

DIRECTORY_BYTES = 4096
"""The size that Linux reports for a directory."""

_MAX_NAME = 255
_inodes = itertools.count(2)


@dataclass(eq=False)
class FileTreeNode:
    """A file or a directory of the tree.

    permissions: the lower bits of its mode; times are in nanoseconds
    """

    permissions: int = 0o644
    inode: int = field(default_factory=lambda: next(_inodes))
    accessed: int = field(default_factory=time.time_ns)
    modified: int = field(default_factory=time.time_ns)
    changed: int = field(default_factory=time.time_ns)

    def update_modified_time(self) -> None:
        """Note that the contents have changed now."""
        self.modified = self.changed = time.time_ns()


@dataclass(eq=False)
class File(FileTreeNode):
    """A file.

    is_null: whether it discards what is written, like /dev/null
    """

    data: bytearray = field(default_factory=bytearray)
    is_null: bool = False


@dataclass(eq=False)
class Directory(FileTreeNode):
    permissions: int = 0o755
    entries: dict[str, FileTreeNode] = field(default_factory=dict)


def make_os_error(number: int, *paths: Any) -> OSError:
    """The exception for an error number, with at most two paths."""
    if len(paths) == 2:
        return OSError(number, os.strerror(number), paths[0], None, paths[1])
    return OSError(number, os.strerror(number), *paths)


class FileTree:
    """Directories and files from the root down. Methods take paths as programs give them and raise OSError as Linux
    does."""

    def __init__(self) -> None:
        self.root = Directory()
        self.current = "/"
        for path in (HOME, TEMPORARY, "/dev"):
            self._makedirs(path)
        self.root.entries["dev"].entries["null"] = File(0o666, is_null=True)  # type: ignore[attr-defined]
        self.current = HOME

    def _makedirs(self, path: str) -> Directory:
        at = self.root
        for name in path.strip("/").split("/"):
            at = at.entries.setdefault(name, Directory())  # type: ignore[assignment]
        return at

    def add_files(self, files: Mapping[str, bytes]) -> None:
        """Add files by their full paths, with the directories that contain them."""
        for path, data in files.items():
            folder, _, name = path.rpartition("/")
            self._makedirs(folder).entries[name] = File(0o444, data=bytearray(data))

    def full_path(self, path: Any) -> str:
        """The path from the root, without `.`, `..` and doubled slashes. There are no links, so `..` removes the part
        before it."""
        text = os.fsdecode(path)
        if "\0" in text:
            raise ValueError("embedded null byte")
        return os.path.normpath(f"/{text}" if text.startswith("/") else f"{self.current}/{text}").replace("//", "/")

    def find_node(self, path: Any) -> FileTreeNode:
        """The node at a path."""
        path = os.fspath(path)
        directory, name = self._find_parent(path, path)
        node = directory.entries.get(name) if name else directory
        if node is None:
            raise make_os_error(errno.ENOENT, path)
        if not isinstance(node, Directory) and has_directory_form(path):
            raise make_os_error(errno.ENOTDIR, path)
        return node

    def find_directory(self, path: Any) -> Directory:
        node = self.find_node(path)
        if not isinstance(node, Directory):
            raise make_os_error(errno.ENOTDIR, os.fspath(path))
        return node

    def is_directory(self, path: Any) -> bool:
        try:
            return isinstance(self.find_node(path), Directory)
        except OSError:
            return False

    def _find_parent(self, path: Any, *reported: Any) -> tuple[Directory, str]:
        """The directory that contains a path, and the path's last name; for the root, the root itself and ""."""
        if not path:
            raise make_os_error(errno.ENOENT, *reported)
        *parents, name = self.full_path(path).split("/")[1:]
        at = self.root
        for parent in parents:
            node = at.entries.get(parent)
            if node is None:
                raise make_os_error(errno.ENOENT, *reported)
            if not isinstance(node, Directory):
                raise make_os_error(errno.ENOTDIR, *reported)
            at = node
        if len(os.fsencode(name)) > _MAX_NAME:
            raise make_os_error(errno.ENAMETOOLONG, *reported)
        return at, name

    def open_file(self, path: Any, flags: int, permissions: int = 0o666) -> FileTreeNode:
        """The node at the path, created or truncated as the flags of `os.open` say."""
        path = os.fspath(path)
        directory, name = self._find_parent(path, path)
        node = directory.entries.get(name) if name else directory
        if node is None:
            if not flags & os.O_CREAT:
                raise make_os_error(errno.ENOENT, path)
            if has_directory_form(path):
                raise make_os_error(errno.EISDIR, path)
            node = directory.entries[name] = File(permissions & ~0o022)
            directory.update_modified_time()
            return node
        if flags & os.O_EXCL and flags & os.O_CREAT:
            raise make_os_error(errno.EEXIST, path)
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        if isinstance(node, File):
            if has_directory_form(path):
                raise make_os_error(errno.ENOTDIR, path)
            if flags & os.O_TRUNC and writes:
                node.data = bytearray()  # a new one: the old may be exported
                node.update_modified_time()
        elif writes or flags & os.O_CREAT:
            raise make_os_error(errno.EISDIR, path)
        return node

    def make_directory(self, path: Any, permissions: int) -> None:
        """Create a directory. Raises OSError if something is at the path already or its parent does not exist."""
        path = os.fspath(path)
        directory, name = self._find_parent(path, path)
        if not name or name in directory.entries:
            raise make_os_error(errno.EEXIST, path)
        directory.entries[name] = Directory(permissions & ~0o022)
        directory.update_modified_time()

    def remove_directory(self, path: Any) -> None:
        path = os.fspath(path)
        directory, name = self._find_parent(path, path)
        node = self.find_directory(path)
        if not name:
            raise make_os_error(errno.EBUSY, path)
        if node.entries:
            raise make_os_error(errno.ENOTEMPTY, path)
        del directory.entries[name]
        directory.update_modified_time()

    def remove_file(self, path: Any) -> None:
        path = os.fspath(path)
        directory, name = self._find_parent(path, path)
        if isinstance(self.find_node(path), Directory):
            raise make_os_error(errno.EISDIR, path)
        del directory.entries[name]
        directory.update_modified_time()

    def rename(self, source: Any, target: Any) -> None:
        """Move a file or a directory, replacing what is at the target. Raises OSError where POSIX would."""
        source, target = os.fspath(source), os.fspath(target)
        both = (source, target)
        from_directory, old = self._find_parent(source, *both)
        to_directory, new = self._find_parent(target, *both)
        node = from_directory.entries.get(old) if old else from_directory
        there = to_directory.entries.get(new) if new else to_directory
        if node is None:
            raise make_os_error(errno.ENOENT, *both)
        if isinstance(node, Directory):
            if f"{self.full_path(target)}/".startswith(f"{self.full_path(source)}/") and there is not node:
                raise make_os_error(errno.EINVAL, *both)
            if there is not None and not isinstance(there, Directory):
                raise make_os_error(errno.ENOTDIR, *both)
            if isinstance(there, Directory) and there.entries and there is not node:
                raise make_os_error(errno.ENOTEMPTY, *both)
        elif isinstance(there, Directory):
            raise make_os_error(errno.EISDIR, *both)
        if not old or not new:
            raise make_os_error(errno.EBUSY, *both)
        del from_directory.entries[old]
        to_directory.entries[new] = node
        from_directory.update_modified_time()
        to_directory.update_modified_time()

    def change_directory(self, path: Any) -> None:
        self.find_directory(path)
        self.current = self.full_path(os.fspath(path))


def has_directory_form(path: str | bytes) -> bool:
    """Whether a path can only name a directory, judging by its form."""
    return os.fsdecode(path).endswith("/")


def build_stat_result(node: FileTreeNode) -> os.stat_result:
    """The result of `os.stat` for a node."""
    if isinstance(node, Directory):
        kind, size, links = (
            stat.S_IFDIR,
            DIRECTORY_BYTES,
            2 + sum(isinstance(entry, Directory) for entry in node.entries.values()),
        )
    else:
        data = node.data if isinstance(node, File) else b""
        kind = stat.S_IFCHR if isinstance(node, File) and node.is_null else stat.S_IFREG
        size, links = len(data), 1
    times = (node.accessed, node.modified, node.changed)
    whole = [at // 10**9 for at in times]
    blocks = -(-size // 4096) * 8
    return os.stat_result(
        (kind | node.permissions, node.inode, 1, links, os.getuid(), os.getgid(), size, *whole,
         *(at / 10**9 for at in times), *times, 4096, blocks, 0)
    )  # fmt: skip
