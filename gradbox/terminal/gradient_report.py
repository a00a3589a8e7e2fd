"""The report of a gradient or sample check for reading: a sentence for what is wrong, and a table with a line for each
leaf."""

import json
from collections.abc import Iterator
from typing import Any

from gradbox.installation import STATIC_FOLDER
from gradbox.wire.api import GradientCheckReply
from gradbox.wire.gradient_check import ElementCheck, FloatNumber, GradientCheck, LeafCheck, SampleCheck


class GradientReport:
    """Writes the report of a check in one language."""

    def __init__(self, reply: GradientCheckReply, language: str) -> None:
        self._reply = reply
        path = STATIC_FOLDER / f"locales/findings.{language}.json"
        self._sentences: dict[str, str] = json.loads(path.read_text("utf-8"))

    def report_lines(self) -> Iterator[str]:
        """The lines of the report."""
        check = self._reply.check
        if check is None:
            yield self._say("stopped", message=self._reply.message)
        elif check.samples is not None:
            yield self._sample_line(check.samples)
        elif check.problem is not None:
            yield self._say(f"problem.{check.problem}", message=check.message)
        else:
            yield from self._comparison_lines(check)

    def _sample_line(self, check: SampleCheck) -> str:
        facts = {"n": check.samples, "axis": check.axis, "line": check.line or "?", "runs": check.runs}
        if check.problem is not None:
            return self._say(f"samples.problem.{check.problem}", **facts)
        if check.mixing is None:
            return self._say("samples.apart", **facts)
        key = "samples.mixed" if check.mixing.changed is not None else "samples.mixed_uncounted"
        mixing = {"op": check.mixing.op, "at": check.mixing.line or "?", "changed": check.mixing.changed or 0}
        return self._say(key, **facts, **mixing)

    def _comparison_lines(self, check: GradientCheck) -> Iterator[str]:
        checked, elements = sum(len(leaf.rows) for leaf in check.leaves), sum(leaf.elements for leaf in check.leaves)
        yield self._say("summary", line=check.line or "?", checked=checked, elements=elements, runs=check.runs)
        if not check.complete:
            yield self._say("incomplete")
        sentences = [sentence for leaf in check.leaves for sentence in self._problem_lines_of_leaf(leaf)]
        yield from sentences or [self._say("what.all")]
        if any(leaf.verdict == "kink" for leaf in check.leaves):
            for corner in check.corners:
                yield self._say("corner", op=corner.op, line=corner.line or "?")
        yield from self._table_lines(check)

    def _problem_lines_of_leaf(self, leaf: LeafCheck) -> Iterator[str]:
        row = leaf.rows[leaf.worst] if leaf.worst is not None else None
        if row is None:
            if leaf.problem is not None:
                yield f"{self._leaf_name(leaf)}: {self._say(f'leaf.{leaf.problem}', line=leaf.problem_line or '?')}"
        elif leaf.verdict != "agrees":
            key = "hooked" if leaf.hooked and leaf.verdict == "differs" else leaf.verdict
            yield self._say(
                f"what.{key}", x=self._leaf_name(leaf) + format_element_name(leaf, row),
                torch=format_gradient(row.torch),
                dtype=leaf.dtype,
                copy=leaf.copy_used.dtype if leaf.copy_used else "",
                made=(leaf.copy_used.line if leaf.copy_used else None) or "?",
                numeric=format_gradient(row.numeric), left=format_gradient(row.left), right=format_gradient(row.right),
            )  # fmt: skip

    def _table_lines(self, check: GradientCheck) -> Iterator[str]:
        columns = ("leaf", "torch", "numeric", "difference", "verdict")
        rows = [[self._say(f"column.{column}") for column in columns] + [""]]
        for leaf in check.leaves:
            row = leaf.rows[leaf.worst] if leaf.worst is not None else None
            counted = self._say("elements", checked=len(leaf.rows), elements=leaf.elements)
            verdict = self._say(f"verdict.{leaf.verdict}")
            if row is None:
                rows.append([self._leaf_name(leaf), "", "", "", verdict, counted])
                continue
            difference = "" if row.difference is None else f"{row.difference:.1e}"
            name = self._leaf_name(leaf) + format_element_name(leaf, row)
            rows.append([name, format_gradient(row.torch), format_gradient(row.numeric), difference, verdict, counted])
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        for cells in rows:
            yield "  " + "  ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)).rstrip()

    def _leaf_name(self, leaf: LeafCheck) -> str:
        return leaf.name or self._say("nameless", line=leaf.line or "?")

    def _say(self, key: str, **args: Any) -> str:
        sentence = self._sentences[f"check.{key}"]
        for name, value in args.items():
            sentence = sentence.replace(f"{{{name}}}", str(value))
        return sentence.replace("`", "")


def format_element_name(leaf: LeafCheck, row: ElementCheck) -> str:
    """An element as the program would write it, if the leaf has several."""
    return f"[{', '.join(map(str, row.index))}]" if leaf.elements > 1 else ""


def format_gradient(value: FloatNumber | None) -> str:
    if value is None:
        return "None"
    return f"{value:.6g}" if isinstance(value, float) else value["$f"]
