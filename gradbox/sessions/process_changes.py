"""What a session changes in the process, each with its way back."""

import contextlib
import itertools
import sys
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from gradbox.recorder import introspection, recorder_frames, stack


@contextlib.contextmanager
def program_files(line_offsets: dict[str, int]) -> Iterator[None]:
    """While entered these files are the program's; `line_offsets` says where each begins, and may grow."""
    before = stack.line_offsets.copy()
    stack.line_offsets.clear()
    stack.line_offsets.update(line_offsets)
    try:
        yield
    finally:
        stack.line_offsets.clear()
        stack.line_offsets.update(before)


@contextlib.contextmanager
def program_classes(paths: Iterable[str]) -> Iterator[None]:
    """While entered classes of the modules of these files are the program's; `add_program_classes` may add more."""
    before = introspection.program_modules.copy()
    for path in paths:
        add_program_classes(path)
    try:
        yield
    finally:
        introspection.program_modules.clear()
        introspection.program_modules.update(before)


def add_program_classes(path: str) -> None:
    """Classes of the modules that were imported from this file, or are just being, are the program's."""
    for name, module in list(sys.modules.items()):
        if type(module) is ModuleType and vars(module).get("__file__") == path:
            introspection.program_modules.add(name)


@contextlib.contextmanager
def unshared_attribute_dicts() -> Iterator[None]:
    """At the end attributes of instances that were asked for their `__dict__` are read as fast as those of others.

    Python 3.11 and 3.12 keep attributes in the instance until then, and read them from a dictionary that shares the keys of
    its class three times as slowly. One with keys of its own is nearly as fast as none. 3.13 keeps them where they are.
    """
    before = introspection.instances_with_new_dict
    introspection.instances_with_new_dict = [] if sys.version_info < (3, 13) else None
    try:
        yield
    finally:
        given, introspection.instances_with_new_dict = introspection.instances_with_new_dict, before
        for reference in given or ():
            instance = reference()
            members = None if instance is None else introspection.instance_dict(instance)
            if members:
                _unshare_keys(members)


def _unshare_keys(members: dict[str, Any]) -> None:
    """Python makes them where the last key is taken out. It is put back before another thread can look."""
    deque(itertools.starmap(members.__setitem__, map(dict.popitem, (members,))), 0)


@contextlib.contextmanager
def room_for_own_frames() -> Iterator[None]:
    """While entered the program may go as deep as without the recorder, which needs a few frames of its own."""
    before = sys.getrecursionlimit()
    raised = before + stack.RECURSION_SLACK
    sys.setrecursionlimit(raised)
    try:
        yield
    finally:
        if sys.getrecursionlimit() == raised:
            sys.setrecursionlimit(before)


@contextlib.contextmanager
def hidden_own_frames(module_is_outermost: bool) -> Iterator[None]:
    """While entered `traceback` prints a stack without the recorder's frames."""
    before = traceback.walk_stack
    walk = recorder_frames.walk_program_stack if module_is_outermost else recorder_frames.walk_whole_stack
    setattr(traceback, "walk_stack", walk)
    try:
        yield
    finally:
        if traceback.walk_stack is walk:
            setattr(traceback, "walk_stack", before)
