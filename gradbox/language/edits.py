"""Edits of a program's text, made at nodes of its syntax tree."""

import ast
from bisect import bisect_left
from typing import Any

from gradbox.language.policy import character_column
from gradbox.language.program_lines import split_lines
from gradbox.language.tree import child_nodes, walk_tree
from gradbox.wire.program import Edit

Position = tuple[int, int]
"""A line, from 1, and a column in bytes, as in a syntax tree."""


class ProgramEdits:
    """Collects edits of one program. If two overlap, the first is used.

    removed: nodes that the edits remove
    """

    def __init__(self, source: str, tree: ast.Module) -> None:
        self.lines, self.tree = source.split("\n"), tree
        self.removed: set[ast.AST] = set()
        self._parents = {child: node for node in walk_tree(tree) for child in child_nodes(node)}
        self._edits: list[Edit] = []
        self._uses: dict[str, list[ast.Name]] = {}
        for node in self._parents:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._uses.setdefault(node.id, []).append(node)

    def reads_of_name(self, name: str | None) -> list[ast.Name]:
        """The nodes that read a name."""
        return self._uses.get(name or "", [])

    def parent_of(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def enclosing_statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that contains a node."""
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.stmt):
            at = self._parents.get(at)
        return at

    def replace_node(self, node: Any, text: str) -> None:
        """Replace a node by a text."""
        self._add_edit(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, text)
        self._mark_removed(node)

    def insert_source_line(self, line: int, indentation: int, text: str) -> None:
        """Insert a line of text before a line, with the first `indentation` bytes of that line as its indentation."""
        if line > len(self.lines):
            return
        start = self.lines[line - 1].encode("utf-8", "surrogatepass")[:indentation].decode("utf-8", "ignore")
        if start.strip():
            self._add_edit(line, indentation, line, indentation, f"{text}; ")  # behind another statement
        else:
            self._add_edit(line, 0, line, 0, f"{start}{text}\n")

    def delete_node_after(self, start: Any, node: Any) -> None:
        """Delete the end of a node, after its first part `start`."""
        self._add_edit(start.end_lineno, start.end_col_offset, node.end_lineno, node.end_col_offset, "")
        self.removed.update({*walk_tree(node)} - {*walk_tree(start)})

    def replace_between(self, start: Position, end: Position, text: str) -> None:
        """Replace the text between two positions."""
        self._add_edit(*start, *end, text)

    def insert_text(self, at: Position, text: str) -> None:
        self._add_edit(*at, *at, text)

    def node_end_with_brackets(self, node: Any, limit: Position) -> Position:
        """The position where a node ends, including brackets that close around it before `limit`."""
        end = (node.end_lineno, node.end_col_offset)
        while (at := self.next_nonblank_position(end)) < limit and self.byte_at(at) == b")":
            end = (at[0], at[1] + 1)
        return end

    def node_end(self, node: Any) -> Position:
        """The position where a node ends."""
        return node.end_lineno, node.end_col_offset

    def next_nonblank_position(self, at: Position) -> Position:
        """The position of the next character that is neither a blank nor the end of a line."""
        line, col = at
        while line <= len(self.lines):
            rest = self._line_bytes(line)[col:]
            text = rest.lstrip()
            if text and text != b"\\":
                return line, col + len(rest) - len(text)
            line, col = line + 1, 0
        return line, 0

    def byte_at(self, at: Position) -> bytes:
        """The byte at a position; empty at the end of the text."""
        return self._line_bytes(at[0])[at[1] : at[1] + 1] if at[0] <= len(self.lines) else b""

    def _line_bytes(self, line: int) -> bytes:
        return self.lines[line - 1].encode("utf-8", "surrogatepass")

    def comment_out_statement(self, node: ast.stmt) -> None:
        """Turn a statement into a comment, so that the reader sees what was left out."""
        if node in self.removed:
            return
        last = self.lines[(node.end_lineno or node.lineno) - 1].encode("utf-8", "surrogatepass")
        behind = last[node.end_col_offset :].strip()
        if behind and not behind.startswith(b"#"):
            self.replace_node(node, "pass")
            return
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            text = self.lines[line - 1]
            first = line == node.lineno
            col = node.col_offset if first else len(text) - len(text.lstrip())
            self._add_edit(
                line, col, line, col, "pass  # " if first and self._would_leave_block_empty(node) else "# ", first
            )
        self._mark_removed(node)

    def sorted_edits(self) -> list[Edit]:
        """The edits, in order of their positions."""
        return self._edits

    def _would_leave_block_empty(self, node: ast.stmt) -> bool:
        """Whether the block would be empty without this statement."""
        parent = self._parents[node]
        for name in ("body", "orelse", "finalbody"):
            body = getattr(parent, name, None)
            if isinstance(body, list) and node in body:
                return not isinstance(parent, ast.Module) and all(
                    other in self.removed for other in body if other is not node
                )
        return False

    def _mark_removed(self, node: ast.AST) -> None:
        self.removed.update(walk_tree(node))

    def _add_edit(self, line: int, col: int, end_line: int, end_col: int, text: str, in_bytes: bool = True) -> None:
        if in_bytes:
            col, end_col = (
                character_column(self.lines[line - 1], col),
                character_column(self.lines[end_line - 1], end_col),
            )
        edit = Edit(line=line, col=col, end_line=end_line, end_col=end_col, text=text)
        at = bisect_left(self._edits, (line, col), key=lambda edit: (edit.line, edit.col))
        if (
            (line, col) == (end_line, end_col)
            and self._edits[at : at + 1]
            and replaces_text_from(self._edits[at], line, col)
        ):
            at += 1  # the edit that replaces text is made first, or it would remove what this one inserts
        behind = at
        while behind < len(self._edits) and (self._edits[behind].line, self._edits[behind].col) < (end_line, end_col):
            behind += 1
        if all(are_disjoint(edit, other) for other in self._edits[max(at - 1, 0) : behind]):
            self._edits.insert(at, edit)


def replaces_text_from(edit: Edit, line: int, col: int) -> bool:
    """Whether an edit removes the text that begins at this position."""
    return (edit.line, edit.col) == (line, col) < (edit.end_line, edit.end_col)


def are_disjoint(first: Edit, second: Edit) -> bool:
    """Whether two edits do not overlap."""
    return (first.end_line, first.end_col) <= (second.line, second.col) or (second.end_line, second.end_col) <= (
        first.line,
        first.col,
    )


def apply_edits(text: str, edits: list[Edit], shape: str | None = None) -> str:
    """The text with the edits applied.

    shape: replaces `{shape}` in them
    """
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.col), reverse=True):
        inserted = (
            edit.text if shape is None else edit.text.replace("{shape}", shape).replace("{n}", shape.split(",")[0])
        )
        head, tail = lines[edit.line - 1][: edit.col], lines[edit.end_line - 1][edit.end_col :]
        lines[edit.line - 1 : edit.end_line] = (head + inserted + tail).split("\n")
    return "\n".join(lines)


def map_edits_to_pasted(edits: list[Edit], source: str, lines: list[int | None], pasted: str) -> list[Edit] | None:
    """The same edits for the pasted text; None if a line of the program is not in it unchanged."""
    source_lines, pasted_lines = source.split("\n"), [line.text for line in split_lines(pasted)]

    def map_position(line: int, col: int) -> tuple[int, int] | None:
        origin = lines[line - 1] if line <= len(lines) else None
        if origin is None:
            return None
        at = pasted_lines[origin - 1].rfind(source_lines[line - 1])
        return None if at < 0 else (origin, at + col)

    out = []
    for edit in edits:
        begin, end = map_position(edit.line, edit.col), map_position(edit.end_line, edit.end_col)
        if begin is None or end is None or ("\n" in edit.text and begin[1] != edit.col):
            return None  # a new line would lack its prompt or its margin
        out.append(Edit(line=begin[0], col=begin[1], end_line=end[0], end_col=end[1], text=edit.text))
    return out
