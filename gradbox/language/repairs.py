"""Repairs: changes that let a program run without the files, packages and devices that it misses.

Repairs are found in the syntax tree, and applied only by the reader. For a refused program one is offered only if the
changed program has fewer refusals.
"""

import re
from collections.abc import Callable

from gradbox.language.compiler_repairs import repair_compiler
from gradbox.language.cuda import CudaEdits
from gradbox.language.edits import apply_edits, map_to_pasted
from gradbox.language.file_repairs import repair_arrays, repair_missing_file
from gradbox.language.fullwidth import punctuation_repair
from gradbox.language.names import ImportedModules
from gradbox.language.package_repairs import repair_downloads, repair_pictures, repair_samples, repair_tables
from gradbox.language.paste import Pasted
from gradbox.language.plot_repairs import repair_input, repair_plots, repair_progress
from gradbox.language.policy import check_program
from gradbox.language.repair_draft import MAX_EDITS, RepairDraft
from gradbox.language.text import is_program, parse
from gradbox.language.tree import walk
from gradbox.wire.program import Refusal, Repair

_CUDA = re.compile(r"CUDA|NVIDIA|accelerator device|_cuda_|dummy base class Event")

EOF_MESSAGE = "EOF when reading a line"
"""What `input()` says where no line is left."""

TYPE_INPUT = "type_input"
"""A repair without edits: the reader types what the program is to read."""

RULES: tuple[Callable[[RepairDraft], Repair | None], ...] = (
    repair_arrays,
    repair_tables,
    repair_pictures,
    repair_samples,
    repair_downloads,
    repair_plots,
    repair_progress,
    repair_compiler,
)
"""Each makes at most one repair of a refused program."""


def offer_repairs(pasted: Pasted, text: str, refusals: list[Refusal]) -> list[Refusal]:
    """The refusals, each repair with the first one that it resolves. text: as pasted."""
    if any(refusal.key in ("syntax", "deep") for refusal in refusals):  # no tree to look at
        typed = punctuation_repair(pasted.source)
        if typed is None or refusals[0].key == "deep":
            return refusals
        first = refusals[0].model_copy(update={"repairs": [_with_pasted_edits(typed, pasted, text)]})
        return [first, *refusals[1:]]
    tree = parse(pasted.source)
    out = list(refusals)
    for rule in RULES:
        repair = rule(RepairDraft(pasted.source, tree))
        at = _first_resolved_refusal(pasted.source, repair, out) if repair is not None else None
        if repair is not None and at is not None:
            offers = [*out[at].repairs, _with_pasted_edits(repair, pasted, text)]
            out[at] = out[at].model_copy(update={"repairs": offers})
    return out


def error_repairs(
    pasted: Pasted, text: str, error_type: str, message: str, line: int | None, cpu: bool
) -> list[Repair]:
    """For an error that the program ended with, at a line of its own: what would let it go on. cpu: whether it ran there."""
    if cpu and _CUDA.search(message):
        return cpu_repairs(pasted, text)
    if error_type == "EOFError" and message == EOF_MESSAGE:
        answer = repair_input(RepairDraft(pasted.source, parse(pasted.source)))
        return [Repair(key=TYPE_INPUT), *([] if answer is None else [_with_pasted_edits(answer, pasted, text)])]
    repair = repair_missing_file(pasted.source, parse(pasted.source), error_type, message, line) if line else None
    if repair is None or check_program(apply_edits(pasted.source, repair.edits, repair.shape))[1]:
        return []
    return [_with_pasted_edits(repair, pasted, text)]


def cpu_repairs(pasted: Pasted, text: str) -> list[Repair]:
    """For an error of a missing CUDA device: one repair that changes all uses of CUDA to the CPU."""
    tree = parse(pasted.source)
    try:
        edits = CudaEdits(pasted.source, tree, ImportedModules(walk(tree))).sorted_edits()
    except RecursionError:  # nested too deep
        return []
    if not 0 < len(edits) <= MAX_EDITS or not is_program(apply_edits(pasted.source, edits)):
        return []
    return [_with_pasted_edits(Repair(key="cuda", edits=edits), pasted, text)]


def _with_pasted_edits(repair: Repair, pasted: Pasted, text: str) -> Repair:
    """The repair with the same edits for the pasted text, where that differs from the program."""
    edits = map_to_pasted(repair.edits, pasted.source, pasted.lines, text) if text != pasted.source else None
    return repair if edits is None else repair.model_copy(update={"pasted": edits})


def _first_resolved_refusal(source: str, repair: Repair, refusals: list[Refusal]) -> int | None:
    """The index of the first refusal that the repair resolves; None if the repaired program has as many refusals or is invalid."""
    _, left = check_program(apply_edits(source, repair.edits, repair.shape))
    if len(left) >= len(refusals) or any(refusal.key == "syntax" for refusal in left):
        return None
    lines = {line for edit in repair.edits for line in range(edit.line, edit.end_line + 1)}
    return next((k for k, refusal in enumerate(refusals) if refusal.line in lines), None)
