"""A finding does not depend on how a program is written: programs of tests/examples, spelled in another way."""

import ast
from collections.abc import Callable

import pytest

from tests.recordings.store import ROOT
from tests.support.explaining import findings_of
from tests.support.sampling import in_turn

pytestmark = pytest.mark.slow

PROGRAMS = [
    "silent/clip_of_what_the_optimizer_took", "silent/forward_called_directly", "silent/hook_after_backward",
    "silent/hook_keeps_its_tensor", "silent/hook_of_a_module_used_twice", "silent/hooks_defined_in_a_loop",
    "silent/learning_rate_set_on_the_optimizer", "silent/rate_behind_the_loop_over_groups",
    "silent/rate_in_copied_groups", "silent/rate_that_falls_with_every_batch",
    "silent/schedule_of_the_first_optimizer", "silent/scheduler_before_the_optimizer",
    "silent/weight_decay_in_the_defaults", "findings/hook_result_size",
    "findings/parameter_detached_parameters_counted_first",
]  # fmt: skip


def in_brackets(source: str) -> str:
    """With brackets around what each attribute is of, and each argument on a line of its own; not in f-strings."""
    tree = ast.parse(source)
    formatted = [node for outer in ast.walk(tree) if isinstance(outer, ast.JoinedStr) for node in ast.walk(outer)]
    lines = source.encode().splitlines(keepends=True)
    inserted: list[tuple[int, int, bytes]] = []  # the line, the byte, what goes before it
    for node in ast.walk(tree):
        if node in formatted:
            continue
        if isinstance(node, ast.Attribute):
            of = node.value
            inserted.append((of.lineno, of.col_offset, b"("))
            inserted.append((of.end_lineno or 0, of.end_col_offset or 0, b")"))
        elif isinstance(node, ast.Call):
            arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
            inserted += [(a.lineno, a.col_offset, b"\n") for a in arguments if not isinstance(a, ast.GeneratorExp)]
    for line, byte, text in sorted(inserted, reverse=True):
        lines[line - 1] = lines[line - 1][:byte] + text + lines[line - 1][byte:]
    return b"".join(lines).decode()


def in_chinese(source: str) -> str:
    """With a Chinese character before each variable, function and parameter, but for those that keywords name."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    bound -= {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    for node in nodes:
        for field in ("id", "arg", "name"):
            if getattr(node, field, None) in bound and not isinstance(node, ast.keyword | ast.alias):
                setattr(node, field, f"量{getattr(node, field)}")
    return ast.unparse(tree)


def kinds_of(source: str) -> list[tuple[str, str | None]]:
    return sorted((finding["kind"], finding.get("variant")) for finding in findings_of(source))


@pytest.mark.parametrize(("name", "spelled"), in_turn(PROGRAMS, [in_brackets, in_chinese]))
def test_the_same_is_found_in_another_spelling(name: str, spelled: Callable[[str], str]) -> None:
    source = (ROOT / f"tests/examples/{name}.py").read_text("utf-8")
    assert spelled(source) != source
    assert kinds_of(spelled(source)) == kinds_of(source) != []
