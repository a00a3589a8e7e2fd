"""`torch.Generator.seed` without a file: it asks the kernel for chance by a system call of its own.

torch opens /dev/urandom each time. As the only file that a program could open, it would leave a way to ask which files
there are: the kernel answers a refusal for one that is there, and another error for one that is not.
"""

import ctypes
import os
import sys
from typing import Any

import torch

_NO_ARGUMENTS = 4  # METH_NOARGS

_Function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)


class _MethodDefinition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _MethodDescriptor(ctypes.Structure):
    """PyMethodDescrObject, whose definition is looked up at each call."""

    _fields_ = (
        ("references", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("owner", ctypes.c_void_p),
        ("name", ctypes.c_void_p),
        ("qualified_name", ctypes.c_void_p),
        ("definition", ctypes.POINTER(_MethodDefinition)),
    )


def seed_from_kernel(generator: Any, _: int | None) -> int:
    """What `Generator.seed` does: set a seed of 64 random bits, and return it."""
    value = int.from_bytes(os.getrandom(8), sys.byteorder)
    torch._C.Generator.manual_seed(generator, value)
    return value


_function = _Function(seed_from_kernel)
_definition = _MethodDefinition()


def replace_seed_method() -> None:
    """Have `Generator.seed` call `seed_from_kernel`, in this process and its forks. Does nothing where the method is
    another one."""
    descriptor: Any = torch._C.Generator.__dict__["seed"]
    fields = _MethodDescriptor.from_address(id(descriptor))
    original = fields.definition.contents
    if original.name != b"seed" or original.flags != _NO_ARGUMENTS:
        return
    _definition.name, _definition.flags, _definition.doc = original.name, original.flags, original.doc
    _definition.function = ctypes.cast(_function, ctypes.c_void_p)
    fields.definition = ctypes.pointer(_definition)
