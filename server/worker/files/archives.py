"""Torch's archives in memory. Replaces what `torch.save`, `torch.load`, `torch.jit.save` and `torch.jit.load` do in C++
with a path.

The bytes are those that torch writes to a disk, and `os.path.getsize` reports the same number.
"""

import io
import os
import struct
from pathlib import PurePosixPath
from typing import Any

import torch
from torch.jit._script import RecursiveScriptModule

from server.worker.files.file_tree import FileTree
from server.worker.files.open_files import OpenFiles

_BUFFER_ARCHIVE_NAME = b"archive"
"""The name that torch gives to an archive in a buffer. An archive with a path is named after the path's last part."""

_LOCAL_BYTES, _CENTRAL_BYTES, _ZIP64_END_BYTES, _ZIP64_LOCATOR_BYTES, _END_BYTES = 30, 46, 56, 20, 22
_ALIGNMENT = 64


class ArchiveWriter(torch._C.PyTorchFileWriter):
    """An archive writer whose paths are in memory."""

    _files: OpenFiles

    def __init__(self, target: Any, compute_crc32: bool = True, storage_alignment: int = _ALIGNMENT) -> None:
        self._path = self._buffer = None
        if isinstance(target, str):
            name = archive_name(target)
            check_parent_directory(self._files.tree, target)
            self._path, self._name, self._alignment = target, name, storage_alignment
            self._files.open(target, "wb").close()
            target = self._buffer = io.BytesIO()
        super().__init__(target, compute_crc32, storage_alignment)

    def write_end_of_file(self) -> None:
        super().write_end_of_file()
        if self._path is not None and self._buffer is not None:
            with self._files.open(self._path, "wb") as file:
                file.write(rename_archive(self._buffer.getvalue(), self._name, self._alignment))


class ArchiveReader(torch._C.PyTorchFileReader):
    """An archive reader whose paths are in memory."""

    _files: OpenFiles

    def __init__(self, source: Any) -> None:
        if isinstance(source, str):
            source = self._files.open(source, "rb")
        super().__init__(source)


def use_file_tree_for_archives(files: OpenFiles) -> None:
    """Make torch write its archives to these files and read them from there."""
    ArchiveWriter._files = ArchiveReader._files = files
    import_from_buffer = torch._C.import_ir_module_from_buffer

    def import_script_module(unit: Any, path: str, *arguments: Any) -> Any:
        with files.open(path, "rb") as file:
            return import_from_buffer(unit, file.read(), *arguments)

    def save_script_module(script: Any, f: Any, **options: Any) -> None:
        path = os.fspath(f)
        name = archive_name(path)
        check_parent_directory(files.tree, path)
        data = rename_archive(script.save_to_buffer(**options), name, _ALIGNMENT)
        with files.open(path, "wb") as file:
            file.write(data)

    for owner, attribute, value in (
        (torch._C, "PyTorchFileWriter", ArchiveWriter),
        (torch._C, "PyTorchFileReader", ArchiveReader),
        (torch._C, "import_ir_module", import_script_module),
        (torch._C.ScriptFunction, "save", save_script_module),
        (RecursiveScriptModule, "save", save_script_module),
    ):
        setattr(owner, attribute, value)


def archive_name(path: str) -> bytes:
    """The name that torch gives to the archive at a path. Raises RuntimeError as torch does."""
    name = path.rpartition("/")[2]
    stem = name[: name.rindex(".")] if "." in name else name
    if not stem:
        raise RuntimeError(f"[enforce fail at inline_container.cc:720] . invalid file name: {path}")
    return stem.encode()


def check_parent_directory(tree: FileTree, path: str) -> None:
    """Raise RuntimeError, as torch does, if the parent directory of a path does not exist."""
    parent = path.rpartition("/")[0]
    if parent and not tree.is_directory(parent):
        raise RuntimeError(f"Parent directory {PurePosixPath(parent)} does not exist.")


def rename_archive(archive: bytes, name: bytes, alignment: int) -> bytes:
    """Rename an archive that torch wrote to a buffer, keeping its contents aligned, so that it equals one written to a
    path."""
    end = len(archive) - _END_BYTES
    count, size, start = struct.unpack_from("<HII", archive, end + 10)
    out, directory = bytearray(), bytearray()
    position = start
    entries = []
    for _ in range(count):
        lengths = struct.unpack_from("<HHH", archive, position + 28)
        (offset,) = struct.unpack_from("<I", archive, position + 42)
        entries.append((position, offset, lengths))
        position += _CENTRAL_BYTES + sum(lengths)
    ends = [offset for _, offset, _ in entries[1:]] + [start]
    for (position, offset, lengths), until in zip(entries, ends, strict=True):
        record = name + archive[position + _CENTRAL_BYTES : position + _CENTRAL_BYTES + lengths[0]].removeprefix(
            _BUFFER_ARCHIVE_NAME
        )
        local_name, local_extra = struct.unpack_from("<HH", archive, offset + 26)
        contents = archive[offset + _LOCAL_BYTES + local_name + local_extra : until]
        padding = -(len(out) + _LOCAL_BYTES + len(record) + 4) % alignment
        directory += archive[position : position + 28] + struct.pack("<H", len(record))
        directory += archive[position + 30 : position + 42] + struct.pack("<I", len(out)) + record
        directory += archive[position + _CENTRAL_BYTES + lengths[0] : position + _CENTRAL_BYTES + sum(lengths)]
        out += archive[offset : offset + 26] + struct.pack("<HH", len(record), padding + 4) + record
        out += b"FB" + struct.pack("<H", padding) + b"Z" * padding + contents
    tail = bytearray(archive[start + size :])
    at = len(tail) - _END_BYTES - _ZIP64_LOCATOR_BYTES - _ZIP64_END_BYTES
    if at >= 0:
        struct.pack_into("<QQ", tail, at + 40, len(directory), len(out))
        struct.pack_into("<Q", tail, at + _ZIP64_END_BYTES + 8, len(out) + len(directory))
    struct.pack_into("<II", tail, len(tail) - _END_BYTES + 12, len(directory), len(out))
    return bytes(out + directory + tail)
