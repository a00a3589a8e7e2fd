"""What a recorder in the user's own process could leave behind in it."""

import builtins
import linecache
import os
import sys
import threading
import traceback
import types
import warnings
from typing import Any

import torch
import torch.utils.data

from gradbox.recorder import stack
from gradbox.recorder.probes import probe

OWNERS = {
    "torch": torch,
    "torch._C": torch._C,
    "torch._C.ScriptFunction": torch._C.ScriptFunction,
    "torch._C.ScriptMethod": torch._C.ScriptMethod,
    "torch._C.ScriptModule": torch._C.ScriptModule,
    "torch.autograd": torch.autograd,
    "torch.Tensor": torch.Tensor,
    "torch.nn.Module": torch.nn.Module,
    "torch.utils": torch.utils,
    "torch.compiler": torch.compiler,
    "DataLoader": torch.utils.data.DataLoader,
    "warnings": warnings,
    "traceback": traceback,
    "sys": sys,
    "os": os,
    "threading": threading,
}
PASSING = ("last_exc", "last_type", "last_value", "last_traceback", "__warningregistry__", "_onceregistry")


def members(owner: Any) -> dict[str, int]:
    """What an owner's names are bound to, by identity."""
    kinds = (int, float, str, bool, list, dict, set, tuple)
    return {
        name: id(value)
        for name, value in list(vars(owner).items())
        if name not in PASSING and not isinstance(value, kinds) and not isinstance(value, types.ModuleType)
    }


def process_state() -> dict[str, Any]:
    """A snapshot that is equal before and after a session."""
    state: dict[str, Any] = {name: members(owner) for name, owner in OWNERS.items()}
    streams = (sys.stdout, sys.stderr, sys.stdin)
    state |= {
        "builtins": {name: id(value) for name, value in vars(builtins).items() if name != "_"},
        "streams": [
            (id(stream), sorted(vars(stream))) if hasattr(stream, "__dict__") else id(stream) for stream in streams
        ],
        "warning filters": list(warnings.filters),
        "tracers": (sys.gettrace(), sys.getprofile(), threading.gettrace()),
        "recursion limit": sys.getrecursionlimit(),
        "dispatch key": (
            torch._C._dispatch_tls_is_dispatch_key_included(probe.DISPATCH_KEY),
            torch._C._dispatch_tls_is_dispatch_key_excluded(probe.DISPATCH_KEY),
        ),
        "modes": (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype()),
        "hooks of modules": [
            len(getattr(torch.nn.modules.module, name))
            for name in dir(torch.nn.modules.module)
            if name.startswith("_global_") and isinstance(getattr(torch.nn.modules.module, name), dict)
        ],
        "hook numbers": torch.utils.hooks.RemovableHandle.next_id,
        "threads": threading.active_count(),
        "lines of files": "<program>" in linecache.cache,
        "program files": dict(stack.line_offsets),
        "import hooks": (list(sys.meta_path), list(sys.path_hooks)),
    }
    return state
