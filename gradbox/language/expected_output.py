"""Expected output: what an article's comments say that its statements print, like `# tensor([1.])`.

A comment counts if it begins with something that only Python and torch write, and prose after it is separated by
punctuation. A number counts if it is the whole comment. Everything else is treated as prose.
"""

import ast
import re
from collections.abc import Iterator

from gradbox.language.policy import character_column
from gradbox.language.program_lines import ProgramLine, try_parse_lines
from gradbox.language.tree import walk_tree
from gradbox.wire.program import Notice

_MARKER_PATTERN = re.compile(
    r"\s*(?:(?:outputs?|out|prints?|printed|result|输出(?:结果)?|结果|打印(?:结果)?)(?:为|如下|是)?\s*[:：=]|[-=]>|→|⇒|prints\b)\s*",
    re.I,
)
_HEADER_PATTERN = re.compile(
    r"\s*(?:outputs?|out|prints?|printed|results?|输出(?:结果)?|结果|打印(?:结果)?)(?:为|如下|是)*\s*[:：]\s*\n", re.I
)
_WORD_PATTERN = re.compile(r"(?:None|True|False|nan|inf)\b(?![\w(\[{'\"=.]*[\w(\[{'\"=])")
_NUMBER_PATTERN = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?![\w.])")
_DEVICE_PATTERN = re.compile(r"(?:cpu|cuda:\d+)(?!\w)")
_TYPE_NAME_PATTERN = re.compile(
    r"torch\.(?:b?float\d*|u?int\d+|bool|complex\d+|strided)(?!\w)"
    r"|<\w*(?:Backward\d*|AccumulateGrad)(?: object at 0x[0-9a-fA-F]+)?>|<class '[\w.]+'>"
)
_CONTAINER_START_PATTERN = re.compile(r"(?:Parameter containing:\s*)?(?:tensor|torch\.Size|array|device)?\s?[(\[{]")
_ITEM_SEPARATOR_PATTERN = re.compile(r"\s*,?\s*")
_LITERAL_END_PATTERN = re.compile(r"\s*(?:$|[.,;:!?#(，。；：！？、（—–]|<-)")
_CHINESE_PROSE_PATTERN = re.compile(r"\s*[\u3000-\u9fff]")
_ERROR_PATTERN = re.compile(r"\s*([A-Za-z_]\w*(?:Error|Exception))\b(?:\s*[:：]\s*(.*))?\s*$")
_ANGLE_BRACKETS_PATTERN = re.compile(r"<[\w.: ]+>")
_LITERAL_NODES: tuple[type, ...] = (
    ast.Constant,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.UnaryOp,
    ast.USub,
    ast.Load,
)
_LITERAL_NODES += (ast.Call, ast.keyword, ast.Name, ast.Attribute)
_LITERAL_NAMES = {
    "tensor",
    "array",
    "device",
    "torch",
    "inf",
    "nan",
    "OrderedDict",
    "float32",
    "float64",
    "int32",
    "int64",
}

MAX_LENGTH = 4_000
"""Characters up to which a comment is searched for output."""

MAX_COMMENT_LINES = 100
"""Comment lines below a statement that are read."""


def expected_output_notices(lines: list[str], tree: ast.Module) -> list[Notice]:
    """A notice for each statement whose comment, or a string on its own, says what is printed.

    The notices are of kind `claimed`. Their args are text; label, which the statement prints before it; block, if the
    text covers all statements since the last such block; and from, the first line of the statement.
    """
    commented = {k for k, line in enumerate(lines, 1) if "#" in line}
    outputs = [
        notice
        for node in (_statements_run_once(tree.body) if commented else ())
        if node.end_lineno in commented or (node.end_lineno or 0) + 1 in commented
        for notice in _notices_of_outputs_in_comments(node, lines)
    ]
    texts = [node for node in tree.body[1:] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    return [*outputs, *(notice for node in texts for notice in _notice_of_outputs_in_string(node))]


def _statements_run_once(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The simple statements that run at most once."""
    for node in body:
        if isinstance(node, ast.With | ast.If):
            yield from _statements_run_once(node.body)
            yield from _statements_run_once(node.orelse if isinstance(node, ast.If) else [])
        elif not isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.FunctionDef | ast.AsyncFunctionDef
                            | ast.ClassDef | ast.Try | ast.TryStar | ast.Match | ast.AsyncWith):  # fmt: skip
            yield node


def _notices_of_outputs_in_comments(node: ast.stmt, lines: list[str]) -> Iterator[Notice]:
    last = (node.end_lineno or node.lineno) - 1
    comment_text = lines[last][character_column(lines[last], node.end_col_offset or 0) :].strip()
    comment = comment_text if comment_text.startswith("#") else ""
    if comment_text and not comment:
        return  # another statement stands behind it
    below: list[str] = []
    for line in lines[last + 1 : last + 1 + MAX_COMMENT_LINES]:
        if not line.lstrip().startswith("#"):
            break
        below.append(line.strip()[1:])
    for text in ("\n".join([comment[1:], *below]) if comment else "", "\n".join(below)):
        output = _stated_output(text, node) if len(text) <= MAX_LENGTH else None
        if output is not None:
            yield Notice(
                line=last + 1,
                kind="claimed",
                args={"text": output, "from": node.lineno, **_print_prefix(node)},
            )
            return


def _stated_output(text: str, node: ast.stmt) -> str | None:
    """The output with which a comment begins, if the statement can print it; else None."""
    first = text.split("\n", 1)[0]
    error = _ERROR_PATTERN.match(first)
    if error:
        return first.strip()
    if not isinstance(node, ast.Expr) or _shows_addresses(node):
        return None
    marked = _MARKER_PATTERN.match(text)
    begin = marked.end() if marked else 0
    items, end = _parse_consecutive_outputs(text, begin, alone=False)
    if items and (len(items) == 1 or is_print_call(node)):
        rest = text[end:].split("\n", 1)[0]
        if _LITERAL_END_PATTERN.match(rest) or (marked and _CHINESE_PROSE_PATTERN.match(rest)):
            return " ".join(items)
    alone = (
        (_NUMBER_PATTERN.match(text, begin) if marked else None)
        or _NUMBER_PATTERN.match(first.strip())
        or _DEVICE_PATTERN.match(first.strip())
    )
    if alone and first[begin:].strip() == alone[0]:
        return alone[0]
    return None


def _parse_consecutive_outputs(text: str, at: int, alone: bool = True) -> tuple[list[str], int]:
    """The outputs that follow each other from `at`, and where they end. With `alone`, numbers count."""
    items: list[str] = []
    end = at
    while True:
        at = _ITEM_SEPARATOR_PATTERN.match(text, at).end()  # type: ignore[union-attr]
        match = (
            _WORD_PATTERN.match(text, at)
            or _TYPE_NAME_PATTERN.match(text, at)
            or (_NUMBER_PATTERN.match(text, at) if alone else None)
        )
        to = match.end() if match else _end_of_container_literal(text, at)
        if to is None:
            return items, end
        items.append(text[at:to])
        at = end = to


def _end_of_container_literal(text: str, at: int) -> int | None:
    """The end of a tensor, list or tuple of literals that begins here; else None."""
    match = _CONTAINER_START_PATTERN.match(text, at)
    if match is None:
        return None
    depth, quote = 0, ""
    for k in range(match.end() - 1, len(text)):
        character = text[k]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if not depth:
                return k + 1 if _is_literal_expression(text[at : k + 1]) else None
    return None


def _is_literal_expression(text: str) -> bool:
    text = _ANGLE_BRACKETS_PATTERN.sub("None", text.removeprefix("Parameter containing:")).strip()
    tree = try_parse_lines([ProgramLine(text, None)])
    value = tree.body[0].value if tree and isinstance(tree.body[0], ast.Expr) else None
    if value is None or (text.startswith("(") and not isinstance(value, ast.Tuple)):
        return False  # prose in brackets
    for node in ast.walk(value):
        if not isinstance(node, _LITERAL_NODES) or (isinstance(node, ast.Constant) and node.value is Ellipsis):
            return False
        if isinstance(node, ast.Name) and node.id not in _LITERAL_NAMES:
            return False
    return True


def is_print_call(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"


def _shows_addresses(node: ast.stmt) -> bool:
    """Whether the statement prints addresses, which differ from run to run."""
    calls = [part.func for part in walk_tree(node) if isinstance(part, ast.Call)]
    return any(
        (isinstance(f, ast.Name) and f.id == "id") or (isinstance(f, ast.Attribute) and f.attr == "data_ptr")
        for f in calls
    )


def _print_prefix(node: ast.stmt) -> dict[str, str]:
    """The constant text with which a `print` begins, as `label`."""
    if not is_print_call(node):
        return {}
    call: ast.Call = node.value  # type: ignore[attr-defined]
    if call.keywords or not call.args:
        return {}
    first = call.args[0]
    if isinstance(first, ast.JoinedStr) and len(call.args) == 1 and first.values:
        opening = first.values[0]
        is_text = isinstance(opening, ast.Constant) and isinstance(opening.value, str)
        return {"label": str(opening.value)} if is_text else {}  # type: ignore[attr-defined]
    texts = []
    for argument in call.args[:-1]:
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            break
        texts.append(argument.value)
    return {"label": " ".join(texts)} if texts else {}


def _notice_of_outputs_in_string(node: ast.stmt) -> Iterator[Notice]:
    """A notice for a string on its own that consists of outputs with notes behind them."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
        return
    text = node.value.value
    header = _HEADER_PATTERN.match(text) if len(text) <= MAX_LENGTH else None
    if len(text) > MAX_LENGTH or not text.strip():
        return
    at = header.end() if header else 0
    rows: list[str] = []
    while text[at:].strip():
        items, end = _parse_consecutive_outputs(text, at)
        line = text[end:].split("\n", 1)[0]
        if not items or not _LITERAL_END_PATTERN.match(line):
            return
        rows.append(text[at:end].strip())
        at = end + len(line)
    yield Notice(
        line=node.end_lineno, kind="claimed", args={"text": "\n".join(rows), "block": True, "from": node.lineno}
    )
