"""The repair of programs that ask `torch._dynamo` for what `torch.compile` gives them since torch 2.1."""

import ast

from gradbox.language.repair_draft import RepairDraft
from gradbox.wire.program import Repair

_KEYWORDS = {"backend": "backend", "nopython": "fullgraph", "dynamic": "dynamic"}
"""What `torch._dynamo.optimize` calls an option, and what `torch.compile` does."""


def repair_compiler(draft: RepairDraft) -> Repair | None:
    """`torch._dynamo.optimize("eager")` becomes `torch.compile(backend="eager")`, which runs the plain function."""
    for call in draft.calls_of("torch._dynamo.optimize".__eq__):
        options = [f"backend={ast.unparse(argument)}" for argument in call.args[:1]]
        options += [
            f"{_KEYWORDS[word.arg]}={ast.unparse(word.value)}" for word in call.keywords if word.arg in _KEYWORDS
        ]
        draft.replace(call, f"{draft.torch}.compile({', '.join(options)})")
    return draft.repair("compile")
