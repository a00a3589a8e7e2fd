"""Repairs for programs that read a missing file, or write to a missing directory."""

import ast
import re
from typing import Any

from gradbox.language.names import bound_names, import_insertion_line
from gradbox.language.repair_draft import DEFAULT_SHAPE, RepairDraft
from gradbox.language.tree import walk_tree
from gradbox.wire.program import Repair

REPLACEMENT_FILE_TEXT = "the quick brown fox jumps over the lazy dog. "
_SAMPLE_REPETITIONS = 20

_ARRAY_READERS = {f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")}
_NO_FILE_PATTERN = re.compile(r"\[Errno 2\] No such file or directory: '(.*)'$|^(\S+) not found\.$", re.S)
_NO_DIRECTORY_PATTERN = re.compile(r"Parent directory (.*) does not exist\.$", re.S)
_FILE_WRITERS = {"torch.save", "torch.jit.save", "numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt"}
_WRITING_METHODS = {"write_text", "write_bytes", "to_csv", "savefig"}
_STATE_DICT_METHODS = ("state_dict", "keys", "items", "values", "parameters", "eval", "train", "get")


def repair_missing_file(source: str, tree: ast.Module, error_type: str, message: str, line: int) -> Repair | None:
    """A repair of the statement at this line, which raised because a file or a directory is missing."""
    missing = _NO_FILE_PATTERN.search(message) if error_type == "FileNotFoundError" else None
    parent = _NO_DIRECTORY_PATTERN.search(message) if error_type == "RuntimeError" else None
    if parent is not None:
        return _makedirs_repair(source, tree, line, parent[1])
    if missing is None:
        return None
    directory = (missing[1] or "").rpartition("/")[0]
    draft = RepairDraft(source, tree, line)
    if directory and draft.find_calls(lambda call: _creates_file(draft, call)):
        return _makedirs_repair(source, tree, line, directory)
    rules = (repair_torch_load, repair_numpy_readers, _repair_open_calls, _repair_read_text_calls)
    return next((repair for rule in rules if (repair := rule(RepairDraft(source, tree, line))) is not None), None)


def repair_torch_load(draft: RepairDraft) -> Repair | None:
    """Replace `torch.load` by a random tensor, or inside `load_state_dict` by the object's own state.

    The results have the versions that loading leaves: a loaded tensor 1, a parameter one more.
    """
    drawn = False
    for call in draft.calls_with_path("torch.load".__eq__):
        statement = draft.enclosing_statement(call)
        name = draft.assigned_name(call)
        users = [draft.enclosing_statement(use) for use in draft.reads_of_name(name)] if name else []
        if statement is not None and _loads_state_dict(statement, call):
            _replace_by_own_state_dict(draft, statement)
        elif statement is not None and users and all(user is not None and _loads_state_dict(user) for user in users):
            draft.comment_out_statement(statement)
            for user in users:
                if user is not None:
                    _replace_by_own_state_dict(draft, user)
        elif name and any(
            isinstance(draft.parent_of(use), ast.Subscript | ast.Attribute)
            and not _is_tensor_access(draft.parent_of(use))
            for use in draft.reads_of_name(name)
        ):
            return None  # a dictionary, a module: nobody knows what is in it
        else:
            draft.replace_node(call, random_tensor_code(draft))
            drawn = True
    return draft.build_repair("load" if drawn else "weights", DEFAULT_SHAPE if drawn else None)


def repair_numpy_readers(draft: RepairDraft) -> Repair | None:
    """Replace arrays that numpy reads by random numbers."""
    for call in draft.calls_with_path(_ARRAY_READERS.__contains__):
        name = draft.assigned_name(call)
        accesses = [draft.parent_of(use) for use in draft.reads_of_name(name)]
        if any(isinstance(access, ast.Subscript) and not _is_tensor_access(access) for access in accesses):
            return None  # an archive of several
        draft.replace_node(call, random_array_code(draft, call))
    return draft.build_repair("load", DEFAULT_SHAPE)


def _repair_open_calls(draft: RepairDraft) -> Repair | None:
    """Replace the content of `open`: a sentence if it is read as text, random numbers if it is unpacked."""
    if "open" in bound_names(draft.nodes):
        return None
    opened = OpenCallReplacer(draft)
    for call in draft.find_calls(lambda call: isinstance(call.func, ast.Name) and call.func.id == "open"):
        if _open_mode(call)[:1] != "r" or not opened.replace_call(call):
            return None
    return draft.build_repair("file" if opened.uses_random else "text", DEFAULT_SHAPE if opened.uses_random else None)


def _repair_read_text_calls(draft: RepairDraft) -> Repair | None:
    """Replace `path.read_text()` by a sentence."""
    for call in draft.find_calls(lambda call: isinstance(call.func, ast.Attribute) and call.func.attr == "read_text"):
        draft.replace_node(call, text_read_replacement("read") or "")
    return draft.build_repair("text")


def _makedirs_repair(source: str, tree: ast.Module, line: int, directory: str) -> Repair | None:
    """Create the directory before the statement that writes to it."""
    draft = RepairDraft(source, tree, line)
    around = [
        node
        for node in draft.nodes
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not around or not directory:
        return None
    if "os" not in draft.modules.names:
        draft.insert_source_line(import_insertion_line(tree) + 1, 0, "import os")
    draft.insert_source_line(around[-1].lineno, around[-1].col_offset, f"os.makedirs({directory!r}, exist_ok=True)")
    repair = draft.build_repair("directory")
    return None if repair is None else repair.model_copy(update={"args": {"path": directory}})


def _creates_file(draft: RepairDraft, call: ast.Call) -> bool:
    """Whether a call creates a file."""
    if isinstance(call.func, ast.Name) and call.func.id == "open":
        return _open_mode(call)[:1] in ("w", "a", "x")
    return draft.dotted_path(call.func) in _FILE_WRITERS or (
        isinstance(call.func, ast.Attribute) and call.func.attr in _WRITING_METHODS
    )


def _open_mode(call: ast.Call) -> str:
    """The mode of a call of `open`; "" where the text does not show it."""
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    if not modes:
        return "r"
    mode = modes[0]
    return mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else ""


def _replace_by_own_state_dict(draft: RepairDraft, statement: ast.stmt) -> None:
    """Make a statement that calls `load_state_dict` pass the state of the object itself."""
    call: Any = statement.value if isinstance(statement, ast.Expr) else None
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "state_dict")]
    if given:
        draft.replace_node(given[0], f"{ast.unparse(call.func.value)}.state_dict()")


def random_tensor_code(draft: RepairDraft) -> str:
    """Code for random numbers in a tensor at version 1, like a loaded one; `randn` returns one at version 0."""
    return f"{draft.torch}.empty({{shape}}).normal_()"


def random_array_code(draft: RepairDraft, call: ast.Call) -> str:
    """Code for random numbers of the dtype for which the replaced call asks."""
    dtype = next((keyword.value for keyword in call.keywords if keyword.arg == "dtype"), None)
    converted = "" if dtype is None or ast.unparse(dtype) == "None" else f".astype({ast.unparse(dtype)})"
    return f"{draft.numpy}.random.randn({{shape}}){converted}"


def _loads_state_dict(statement: ast.stmt, within: ast.AST | None = None) -> bool:
    """Whether a statement calls `load_state_dict`, with the node `within` in its arguments."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if (
        not isinstance(value, ast.Call)
        or not isinstance(value.func, ast.Attribute)
        or value.func.attr != "load_state_dict"
    ):
        return False
    return within is None or any(part is within for argument in value.args for part in walk_tree(argument))


def _is_tensor_access(node: ast.AST | None) -> bool:
    """Whether a tensor allows this access: it is not a string key or a method of modules or dictionaries."""
    if isinstance(node, ast.Subscript):
        return not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str))
    return isinstance(node, ast.Attribute) and node.attr not in _STATE_DICT_METHODS


class OpenCallReplacer:
    """Replaces calls of `open` that read.

    uses_random: whether random numbers replaced a file's contents
    """

    def __init__(self, draft: RepairDraft) -> None:
        self._draft = draft
        self.uses_random = False

    def replace_call(self, call: ast.Call) -> bool:
        """Replace a call. Returns False if the file is used in a way for which there is no replacement."""
        draft = self._draft
        parent = draft.parent_of(call)
        outer = draft.parent_of(parent) if parent is not None else None
        if isinstance(parent, ast.withitem) and isinstance(outer, ast.With) and self._replace_with_block(outer):
            return True
        if isinstance(parent, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is parent:
            text = text_read_replacement(parent.attr)
            if text is not None and "b" not in _open_mode(call):
                draft.replace_node(outer, text)
                return True
        if "b" in _open_mode(call):
            return False
        name = draft.modules.name_of_imported_module("io", "io")
        if name not in draft.modules.names:
            draft.insert_source_line(import_insertion_line(draft.tree) + 1, 0, "import io")
        draft.replace_node(call, f"{name}.StringIO({REPLACEMENT_FILE_TEXT + chr(10)!r} * {_SAMPLE_REPETITIONS})")
        return True

    def _replace_with_block(self, block: ast.With) -> bool:
        """Replace `with open(…) as f:` around one statement that reads everything. Returns whether that was
        possible."""
        name, node = block.items[0].optional_vars, block.body[0]
        if not isinstance(name, ast.Name) or len(block.items) > 1 or len(block.body) > 1:
            return False
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            return False
        call, value = node.value, None
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            value = text_read_replacement(call.func.attr) if call.func.value.id == name.id else None
        if value is None and any(isinstance(part, ast.Name) and part.id == name.id for part in call.args):
            value, self.uses_random = self._random_array_code(call), True
        if value is None:
            return False
        targets = "".join(f"{ast.unparse(target)} = " for target in node.targets)
        self._draft.replace_node(block, f"{targets}{value}")
        return True

    def _random_array_code(self, call: ast.Call) -> str:
        if self._draft.dotted_path(call.func).startswith("numpy."):
            return random_array_code(self._draft, call)
        return random_tensor_code(self._draft)


def text_read_replacement(method: str) -> str | None:
    """The replacement for a method of a text file, if it reads all of it."""
    return {
        "read": f"{REPLACEMENT_FILE_TEXT!r} * {_SAMPLE_REPETITIONS}",
        "readlines": f"[{REPLACEMENT_FILE_TEXT + chr(10)!r}] * {_SAMPLE_REPETITIONS}",
    }.get(method)
