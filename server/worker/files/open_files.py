"""Open files: what `open` returns, with Python's own buffers and text layers over a file in memory."""

import errno
import functools
import io
import os
import re
from collections.abc import Callable
from typing import IO, Any

from server.worker.files.file_tree import Directory, File, FileTree, FileTreeNode, make_os_error

FIRST_DESCRIPTOR = 1 << 20
"""The first number for open files in memory. The kernel never gives a child a number this high."""

_MODE_PATTERN = re.compile(r"(?=[^rwax]*[rwax][^rwax]*$)(?!.*(.).*\1)(?!.*t.*b|.*b.*t)[rwaxbt+]+$")
_FLAGS = {"r": 0, "w": os.O_CREAT | os.O_TRUNC, "a": os.O_CREAT | os.O_APPEND, "x": os.O_CREAT | os.O_EXCL}


class OpenFile:
    """An open node with a position. Raises OSError like read(2) and write(2)."""

    def __init__(self, node: FileTreeNode, flags: int) -> None:
        self.node, self._append = node, bool(flags & os.O_APPEND)
        access = flags & (os.O_WRONLY | os.O_RDWR)
        self.readable, self.writable = access != os.O_WRONLY, access != 0
        self.position = len(node.data) if self._append and isinstance(node, File) else 0

    @property
    def file(self) -> File:
        """The node, which must be a file."""
        if not isinstance(self.node, File):
            raise make_os_error(errno.EISDIR)
        return self.node

    def read(self, size: int) -> bytes:
        if not self.readable:
            raise make_os_error(errno.EBADF)
        data = bytes(self.file.data[self.position : self.position + size])
        self.position += len(data)
        return data

    def write(self, data: Any) -> int:
        if not self.writable:
            raise make_os_error(errno.EBADF)
        file, size = self.file, memoryview(data).nbytes
        if file.is_null:
            return size
        if self._append:
            self.position = len(file.data)
        if self.position > len(file.data):
            file.data.extend(bytes(self.position - len(file.data)))
        file.data[self.position : self.position + size] = memoryview(data).cast("B")
        self.position += size
        file.update_modified_time()
        return size

    def seek(self, offset: int, whence: int) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self.position, os.SEEK_END: len(self.file.data)}.get(whence)
        if begin is None or begin + offset < 0:
            raise make_os_error(errno.EINVAL)
        self.position = begin + offset
        return self.position

    def truncate(self, size: int) -> None:
        if size < 0 or not self.writable:
            raise make_os_error(errno.EINVAL)
        data = self.file.data
        if size > len(data):
            data.extend(bytes(size - len(data)))
        else:
            del data[size:]
        self.file.update_modified_time()


class RawFile(io.RawIOBase):
    """An open file as bytes, in place of `io.FileIO`.

    name, mode: as the program gave them
    """

    def __init__(self, opened: OpenFile, name: Any, mode: str, close: Callable[[], None]) -> None:
        super().__init__()
        self._opened, self._close = opened, close
        self.name, self.mode = name, mode

    def __repr__(self) -> str:
        return f"<_io.FileIO name={self.name!r} mode={self.mode!r} closefd=True>"

    def readable(self) -> bool:
        self._check_open()
        return self._opened.readable

    def writable(self) -> bool:
        self._check_open()
        return self._opened.writable

    def seekable(self) -> bool:
        self._check_open()
        return True

    def readinto(self, buffer: Any) -> int:
        self._check_open()
        if not self._opened.readable:
            raise io.UnsupportedOperation("File not open for reading")
        view = memoryview(buffer).cast("B")
        data = self._opened.read(len(view))
        view[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        self._check_open()
        if not self._opened.writable:
            raise io.UnsupportedOperation("File not open for writing")
        return self._opened.write(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._check_open()
        return self._opened.seek(offset, whence)

    def tell(self) -> int:
        self._check_open()
        return self._opened.position

    def truncate(self, size: int | None = None) -> int:
        self._check_open()
        if not self._opened.writable:
            raise io.UnsupportedOperation("File not open for writing")
        size = self._opened.position if size is None else size
        self._opened.truncate(size)
        return size

    def isatty(self) -> bool:
        self._check_open()
        return False

    def close(self) -> None:
        if not self.closed:
            try:
                super().close()
            finally:
                self._close()

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")


class OpenFiles:
    """The files that a program has open.

    real_open: the interpreter's `open`, for descriptors that the process really has
    """

    def __init__(self, tree: FileTree, real_open: Callable[..., IO[Any]]) -> None:
        self.tree, self._real_open = tree, real_open
        self._by_descriptor: dict[int, OpenFile] = {}
        self._next_descriptor = FIRST_DESCRIPTOR

    def os_open(self, path: Any, flags: int, permissions: int) -> int:
        """Open a file as `os.open` does. Returns its number."""
        opened = OpenFile(self.tree.open_file(path, flags, permissions), flags)
        number, self._next_descriptor = self._next_descriptor, self._next_descriptor + 1
        self._by_descriptor[number] = opened
        return number

    def find_open_file(self, descriptor: Any) -> OpenFile | None:
        """The open file with this number; None for numbers that belong to the kernel."""
        return self._by_descriptor.get(descriptor) if isinstance(descriptor, int) else None

    def close_descriptor(self, descriptor: int) -> None:
        del self._by_descriptor[descriptor]

    def open(
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Callable[[Any, int], int] | None = None,
    ) -> IO[Any]:
        """The `open` that a program calls."""
        arguments = (mode, buffering, encoding, errors, newline, closefd, opener)
        real = isinstance(file, int) and file not in self._by_descriptor
        if (
            real
            or not are_open_arguments_valid(mode, buffering, encoding, errors, newline)
            or not (closefd or opener or isinstance(file, int))
        ):
            return self._real_open(file, *arguments)  # which raises where an argument is wrong
        raw = self._open_raw(file, mode, closefd, opener)
        try:
            return add_buffer_and_text_layers(raw, mode, buffering, encoding, errors, newline)
        except BaseException:
            raw.close()
            raise

    def _open_raw(self, file: Any, mode: str, closefd: bool, opener: Callable[[Any, int], int] | None) -> io.RawIOBase:
        kind = next(letter for letter in mode if letter in _FLAGS)
        access = os.O_RDWR if "+" in mode else os.O_RDONLY if kind == "r" else os.O_WRONLY
        flags = _FLAGS[kind] | access
        name = file if isinstance(file, int) else os.fspath(file)
        if isinstance(file, int):
            number = file
        elif opener is not None:
            number = opener(file, flags | os.O_CLOEXEC)
            if number not in self._by_descriptor:
                return self._real_open(number, to_raw_mode(mode), 0)  # type: ignore[return-value]
        else:
            node = self.tree.open_file(file, flags)
            if isinstance(node, Directory):
                raise make_os_error(errno.EISDIR, name)
            return RawFile(OpenFile(node, flags), name, to_raw_mode(mode), lambda: None)
        close = functools.partial(self.close_descriptor, number) if closefd else lambda: None
        return RawFile(self._by_descriptor[number], name, to_raw_mode(mode), close)


def are_open_arguments_valid(mode: Any, buffering: Any, encoding: Any, errors: Any, newline: Any) -> bool:
    """Whether `open` takes these arguments."""
    if type(mode) is not str or type(buffering) is not int or not _MODE_PATTERN.match(mode):
        return False
    return "b" not in mode or (encoding is None and errors is None and newline is None)


def to_raw_mode(mode: str) -> str:
    """The mode in the form of `io.FileIO`: `rb+` for both `r+b` and `rb+`."""
    kind = next(letter for letter in mode if letter in _FLAGS)
    if "+" not in mode:
        return f"{kind}b"
    return "rb+" if kind in "rw" else f"{kind}b+"


def add_buffer_and_text_layers(
    raw: io.RawIOBase, mode: str, buffering: int, encoding: str | None, errors: str | None, newline: str | None
) -> IO[Any]:
    """Wrap a raw file in the buffer and the text layer that the mode asks for."""
    if buffering == 0:
        if "b" not in mode:
            raise ValueError("can't have unbuffered text I/O")
        return raw  # type: ignore[return-value]
    size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
    buffer: Any
    if "+" in mode:
        buffer = io.BufferedRandom(raw, size)
    elif "r" in mode:
        buffer = io.BufferedReader(raw, size)
    else:
        buffer = io.BufferedWriter(raw, size)
    if "b" in mode:
        return buffer  # type: ignore[no-any-return]
    text: Any = io.TextIOWrapper(buffer, encoding or "UTF-8", errors, newline, line_buffering=buffering == 1)
    text.mode = mode
    return text  # type: ignore[no-any-return]
