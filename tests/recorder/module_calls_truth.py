"""What torch's own hooks say of the calls of modules in a program, run plainly.

The nodes of a call are told by their sequence numbers: torch counts nodes as it makes them, and the hooks note the
count at the beginning and at the end of a call. That is another way than the recorder's, which goes by the results of
operations.
"""

import json
import runpy
import sys
from contextlib import redirect_stdout
from typing import Any

import torch


class Truth:
    """Fills `calls` while the program runs."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self._running: list[int] = []
        self._nodes: dict[int, Any] = {}

    def begin(self, module: torch.nn.Module, _: Any) -> None:
        """Torch calls it before a module's forward."""
        within = self._running[-1] if self._running else None
        self._running.append(len(self.calls))
        count = torch._C._autograd._get_sequence_nr()
        self.calls.append({"type": type(module).__name__, "within": within, "begin": count})

    def end(self, _: torch.nn.Module, arguments: Any, named: Any, result: Any) -> None:
        """Torch calls it after a module's forward."""
        call = self.calls[self._running.pop()]
        call["end"] = torch._C._autograd._get_sequence_nr()
        call["inputs"] = [list(tensor.shape) for tensor in tensors_in((arguments, named))]
        found = tensors_in((result,))
        call["outputs"] = [list(tensor.shape) for tensor in found]
        for tensor in found:
            self.note_nodes(tensor.grad_fn)

    def note_nodes(self, node: Any) -> None:
        pending = [node]
        while pending:
            node = pending.pop()
            if node is not None and id(node) not in self._nodes:
                self._nodes[id(node)] = node
                pending += [other for other, _ in node.next_functions]

    def result(self) -> list[dict[str, Any]]:
        for call in self.calls:
            call["nodes"] = []
        for node in self._nodes.values():
            if node.name().endswith("AccumulateGrad"):
                continue
            number = node._sequence_nr()
            around = [call for call in self.calls if call["begin"] <= number < call["end"]]
            if around:
                around[-1]["nodes"].append(node.name())
        for call in self.calls:
            call["nodes"].sort()
            del call["begin"], call["end"]
        return self.calls


def tensors_in(values: Any) -> list[torch.Tensor]:
    """Each once, in order; in lists, tuples and dicts too."""
    out: dict[int, torch.Tensor] = {}

    def walk(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            out.setdefault(id(value), value)
        elif isinstance(value, dict):
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                walk(inner)

    walk(values)
    return list(out.values())


def calls_of_script(path: str) -> str:
    """The calls of a program, as JSON. For a process of its own."""
    truth = Truth()
    torch.nn.modules.module.register_module_forward_pre_hook(truth.begin)
    torch.nn.modules.module.register_module_forward_hook(truth.end, with_kwargs=True, always_call=True)
    with redirect_stdout(sys.stderr):
        runpy.run_path(path, run_name="__main__")
    return json.dumps(truth.result())
