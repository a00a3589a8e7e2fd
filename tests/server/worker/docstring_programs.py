"""The examples in torch's own docstrings as programs.

`python -m tests.server.worker.docstring_programs FOLDER` writes them as files and says how many. Left out are those
that need files, a GPU, other processes or the compiler, and those that read memory nobody wrote.
"""

import ast
import doctest
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import torch
import torch.autograd.forward_ad
import torch.nn.functional

NAMESPACES: dict[str, ModuleType | type] = {
    "torch": torch,
    "Tensor": torch.Tensor,
    "nn": torch.nn,
    "functional": torch.nn.functional,
    "init": torch.nn.init,
    "utils": torch.nn.utils,
    "optim": torch.optim,
    "autograd": torch.autograd,
    "graph": torch.autograd.graph,
    "autograd_functional": torch.autograd.functional,
    "forward_ad": torch.autograd.forward_ad,
    "func": torch.func,
    "linalg": torch.linalg,
    "fft": torch.fft,
    "special": torch.special,
    "sparse": torch.sparse,
    "distributions": torch.distributions,
}
OUT_OF_REACH = re.compile(
    r"cuda|torch\.(save|load|compile|from_file|jit|onnx|hub)|\bopen\(|distributed|multiprocess|xla|mps|hpu|DataLoader|SKIP|matplotlib"
)
UNWRITTEN = re.compile(r"\bempty(_like|_strided)?\(|new_empty|skip_init|Tensor\(\d|enforce_grad_layout")
IMPORTS = {
    r"\bnn\.": "from torch import nn",
    r"\bF\.": "import torch.nn.functional as F",
    r"\bnp\.": "import numpy as np",
    r"\bnumpy\.": "import numpy",
    r"\bmath\.": "import math",
    r"\bitertools\.": "import itertools",
}


def programs() -> Iterator[tuple[str, str]]:
    """(name, source) of every example that a run here can follow."""
    seen: set[str] = set()
    for prefix, namespace in NAMESPACES.items():
        for name in sorted(dir(namespace)):
            source = "" if name.startswith("_") else example(getattr(namespace, name, None))
            if not source or source in seen or OUT_OF_REACH.search(source) or UNWRITTEN.search(source):
                continue
            seen.add(source)
            imports = [line for pattern, line in IMPORTS.items() if re.search(pattern, source) and line not in source]
            yield f"{prefix}_{name}", "\n".join(["import torch", *imports, source])


def example(thing: object) -> str:
    """The statements of a docstring's examples, if they are Python."""
    try:
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
        source = "".join(item.source for item in examples)
        ast.parse(source)
    except (ValueError, SyntaxError):
        return ""
    return source


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, source in programs():
        (folder / f"{name}.py").write_text(source)
        count += 1
    print(f"{count} programs")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
