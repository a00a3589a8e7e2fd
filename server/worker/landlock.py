"""Landlock: denies the calling thread, and what it starts, all files, TCP and access to other processes."""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_GET_VERSION = 1
_PATH_BENEATH = 1
_WRITE_FILE, _READ_FILE, _READ_DIR, _IOCTL_DEVICE = 1 << 1, 1 << 2, 1 << 3, 1 << 15
_BIND_TCP_CONNECT_TCP = 0b11
_SCOPE_ABSTRACT_SOCKETS_SIGNALS = 0b11

_libc = ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """The version of Landlock that the kernel has; 0 where it has no Landlock, or has it switched off."""
    try:
        return _system_call(_CREATE_RULESET, None, 0, _GET_VERSION)
    except OSError:
        return 0


def restrict_with_landlock(readable: Iterable[str] = (), devices: Iterable[str] = ()) -> None:
    """Deny whatever this kernel's version can deny, for good. Needs no_new_privs. Raises OSError.

    readable: files, and directories with all beneath them, that may still be read
    devices: files that may be used in every way. From version 4 on it denies TCP, from 6 on abstract Unix sockets and
        signals to processes that are not under the same restriction.
    """
    version = landlock_version()
    if not version:
        raise OSError(errno.ENOSYS, "the kernel has no Landlock")
    denied = ruleset_attributes(version)
    rules = _system_call(_CREATE_RULESET, denied, len(denied), 0)
    try:
        for path in readable:
            _allow_path_in_ruleset(rules, path, _READ_FILE | (_READ_DIR if Path(path).is_dir() else 0))
        for path in devices:
            _allow_path_in_ruleset(rules, path, _READ_FILE | _WRITE_FILE | (_IOCTL_DEVICE if version >= 5 else 0))
        _system_call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def ruleset_attributes(version: int) -> bytes:
    """struct landlock_ruleset_attr as that version defines it: rights to files, to the network, and scopes."""
    files = (1 << 13 + (version >= 2) + (version >= 3) + (version >= 5)) - 1  # refer, truncate, ioctl of devices
    fields = [files]
    if version >= 4:
        fields.append(_BIND_TCP_CONNECT_TCP)
    if version >= 6:
        fields.append(_SCOPE_ABSTRACT_SOCKETS_SIGNALS)
    return struct.pack(f"={len(fields)}Q", *fields)


def _allow_path_in_ruleset(ruleset: int, path: str, rights: int) -> None:
    """Add a rule to a ruleset."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        _system_call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    words = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
