"""Repairs: changes that let a program run without missing files, packages and devices.

Repairs are found in the syntax tree and only applied by the reader. For a refused program, a repair is only offered if
the changed program has fewer refusals. The short repairs are in this module: full-width punctuation, as a Chinese
keyboard types it, and the form of `torch._dynamo` calls before torch 2.1.
"""

import ast
import re
from collections.abc import Callable

from gradbox.language.cuda_removal import CudaRemovalEdits
from gradbox.language.display_repairs import repair_input_calls, repair_plots, repair_progress_bars
from gradbox.language.edits import apply_edits, map_edits_to_pasted
from gradbox.language.file_repairs import repair_missing_file, repair_numpy_readers
from gradbox.language.package_repairs import (
    repair_sklearn_samples,
    repair_text_downloads,
    repair_torchvision_datasets,
)
from gradbox.language.paste import PastedProgram
from gradbox.language.policy import parse_and_check_program
from gradbox.language.program_lines import is_parsable, parse_without_warnings
from gradbox.language.repair_draft import MAX_EDITS, RepairDraft
from gradbox.language.table_repairs import repair_pandas_columns, repair_pandas_readers, repair_table_file
from gradbox.language.transform_repairs import repair_transforms, repair_unused_imports
from gradbox.wire.program import Edit, Refusal, Repair

_KEYWORDS = {"backend": "backend", "nopython": "fullgraph", "dynamic": "dynamic"}
"""The names of `torch._dynamo.optimize`'s options in `torch.compile`."""


def repair_dynamo_optimize(draft: RepairDraft) -> Repair | None:
    """Replace `torch._dynamo.optimize("eager")` by `torch.compile(backend="eager")`, which runs the plain function."""
    for call in draft.calls_with_path("torch._dynamo.optimize".__eq__):
        options = [f"backend={ast.unparse(argument)}" for argument in call.args[:1]]
        options += [
            f"{_KEYWORDS[word.arg]}={ast.unparse(word.value)}" for word in call.keywords if word.arg in _KEYWORDS
        ]
        draft.replace_node(call, f"{draft.torch}.compile({', '.join(options)})")
    return draft.build_repair("compile")


ASCII_PUNCTUATION = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if not chr(code - 0xFEE0).isalpha()},
    "。": ".", "、": ",", "【": "[", "】": "]", "《": "<", "》": ">", "—": "-", "–": "-", "−": "-", "×": "*", "÷": "/",
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "＂": '"', "＇": "'", "「": '"', "」": '"',
}  # fmt: skip
"""For each character the one that Python uses."""

_CLOSING_QUOTES = {"“": '”"', "”": '”"', "„": '”“"', "‘": "’'", "’": "’'", "「": "」", "＂": '＂"', "＇": "＇'"}
"""For each opening quote the characters that may close the string, the likeliest first."""


def punctuation_repair(source: str) -> Repair | None:
    """Replace all such punctuation in code; None if there is none. Strings and comments are not changed."""
    if source.isascii():
        return None
    lines = source.split("\n")
    edits, replaced = [], dict.fromkeys("")
    quote = ""
    for number, line in enumerate(lines, 1):
        text, quote, characters = replace_punctuation_in_line(line, quote)
        if text != line:
            replaced |= dict.fromkeys(characters)
            first = next(at for at, (old, new) in enumerate(zip(line, text, strict=True)) if old != new)
            last = next(at for at in range(len(line), 0, -1) if line[at - 1] != text[at - 1])
            edits.append(Edit(line=number, col=first, end_line=number, end_col=last, text=text[first:last]))
    if not 0 < len(edits) <= MAX_EDITS:
        return None
    return Repair(key="punctuation", args={"text": " ".join(list(replaced)[:8])}, edits=edits)


def replace_punctuation_in_line(line: str, quote: str) -> tuple[str, str, list[str]]:
    """The line in Python's punctuation, with the same length; the quotes of the string in which it ends; and what was
    replaced.

    quote: the triple quotes of the string in which the line begins, or an empty text if it begins outside of one
    """
    out, replaced, at = list(line), [], 0
    while at < len(line):
        character = line[at]
        if quote:
            if line.startswith(quote, at):
                at += len(quote)
                quote = ""
            else:
                at += 2 if character == "\\" else 1
        elif character == "#":
            break
        elif character in "'\"":
            quote = character * (3 if line.startswith(character * 3, at) else 1)
            at += len(quote)
        elif character in _CLOSING_QUOTES and (end := closing_quote_column(line, at)) > at:
            out[at] = out[end] = "'" if '"' in line[at + 1 : end] else '"'
            replaced += [character, line[end]] if line[end] in ASCII_PUNCTUATION else [character]
            at = end + 1
        else:
            if character in ASCII_PUNCTUATION:
                out[at] = ASCII_PUNCTUATION[character]
                replaced.append(character)
            at += 1
    return "".join(out), quote if len(quote) == 3 else "", replaced


def closing_quote_column(line: str, at: int) -> int:
    """The column of the quote that closes the string opened at a column; -1 where the line has none."""
    ends = (line.find(character, at + 1) for character in _CLOSING_QUOTES[line[at]])
    return next((end for end in ends if end > at), -1)


_CUDA_PATTERN = re.compile(r"CUDA|NVIDIA|accelerator device|_cuda_|dummy base class Event")

EOF_MESSAGE = "EOF when reading a line"
"""The error of `input()` when no line is left."""

TYPE_INPUT_REPAIR = "type_input"
"""A repair without edits: the reader types the program's input."""

REPAIR_RULES: tuple[Callable[[RepairDraft], Repair | None], ...] = (
    repair_numpy_readers,
    repair_pandas_readers,
    repair_pandas_columns,
    repair_torchvision_datasets,
    repair_transforms,
    repair_sklearn_samples,
    repair_text_downloads,
    repair_plots,
    repair_progress_bars,
    repair_dynamo_optimize,
)
"""Each rule makes at most one repair of a refused program."""


def refusals_with_repairs(pasted: PastedProgram, text: str, refusals: list[Refusal]) -> list[Refusal]:
    """The refusals, with each repair added to the first refusal that it resolves.

    text: as pasted
    """
    if pasted.other is not None:
        return refusals
    if any(refusal.key in ("syntax", "deep") for refusal in refusals):  # no tree to look at
        typed = punctuation_repair(pasted.source)
        if typed is None or refusals[0].key == "deep":
            return refusals
        first = refusals[0].model_copy(update={"repairs": [_repair_with_pasted_edits(typed, pasted, text)]})
        return [first, *refusals[1:]]
    tree = parse_without_warnings(pasted.source)
    out = list(refusals)
    for rule in (*REPAIR_RULES, repair_unused_imports):
        if rule is repair_unused_imports and any(refusal.repairs for refusal in out):
            break  # those leave unused imports out as well
        repair = rule(RepairDraft(pasted.source, tree))
        at = _first_resolved_refusal(pasted.source, repair, out) if repair is not None else None
        if repair is not None and at is not None:
            offers = [*out[at].repairs, _repair_with_pasted_edits(repair, pasted, text)]
            out[at] = out[at].model_copy(update={"repairs": offers})
    return out


def error_repairs(
    pasted: PastedProgram, text: str, error_type: str, message: str, line: int | None, cpu: bool
) -> list[Repair]:
    """Repairs for the error with which the program ended at one of its lines.

    cpu: whether it ran on the CPU
    """
    if cpu and _CUDA_PATTERN.search(message):
        return cpu_repairs(pasted, text)
    if error_type == "EOFError" and message == EOF_MESSAGE:
        answer = repair_input_calls(RepairDraft(pasted.source, parse_without_warnings(pasted.source)))
        return [
            Repair(key=TYPE_INPUT_REPAIR),
            *([] if answer is None else [_repair_with_pasted_edits(answer, pasted, text)]),
        ]
    repair = None
    if line:
        tree = parse_without_warnings(pasted.source)
        repair = repair_missing_file(pasted.source, tree, error_type, message, line)
        if repair is None and error_type == "FileNotFoundError":
            repair = repair_table_file(RepairDraft(pasted.source, tree, line))
    if repair is None or parse_and_check_program(apply_edits(pasted.source, repair.edits, repair.shape))[1]:
        return []
    return [_repair_with_pasted_edits(repair, pasted, text)]


def cpu_repairs(pasted: PastedProgram, text: str) -> list[Repair]:
    """For the error of a missing CUDA device: one repair that changes all uses of CUDA to the CPU."""
    tree = parse_without_warnings(pasted.source)
    try:
        edits = CudaRemovalEdits(pasted.source, tree).sorted_edits()
    except RecursionError:  # nested too deep
        return []
    if not 0 < len(edits) <= MAX_EDITS or not is_parsable(apply_edits(pasted.source, edits)):
        return []
    return [_repair_with_pasted_edits(Repair(key="cuda", edits=edits), pasted, text)]


def _repair_with_pasted_edits(repair: Repair, pasted: PastedProgram, text: str) -> Repair:
    """The repair with the same edits for the pasted text, where that differs from the program."""
    edits = map_edits_to_pasted(repair.edits, pasted.source, pasted.lines, text) if text != pasted.source else None
    return repair if edits is None else repair.model_copy(update={"pasted": edits})


def _first_resolved_refusal(source: str, repair: Repair, refusals: list[Refusal]) -> int | None:
    """The index of the first refusal that the repair resolves; None if the repaired program has as many refusals or is
    invalid."""
    _, left = parse_and_check_program(apply_edits(source, repair.edits, repair.shape))
    if len(left) >= len(refusals) or any(refusal.key == "syntax" for refusal in left):
        return None
    lines = {line for edit in repair.edits for line in range(edit.line, edit.end_line + 1)}
    return next((k for k, refusal in enumerate(refusals) if refusal.line in lines), None)
