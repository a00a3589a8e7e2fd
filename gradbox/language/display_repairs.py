"""Repairs that leave out what only displays something: plots, progress bars, dashboards."""

import ast

from gradbox.language.repair_draft import RepairDraft
from gradbox.language.tree import walk_tree
from gradbox.wire.program import Repair

_PLOT_MODULES = ("matplotlib", "seaborn", "plotly", "cv2", "torchviz", "torchinfo", "torchsummary", "IPython", "wandb",
             "tensorboard", "tensorboardX", "torch.utils.tensorboard")  # fmt: skip
_PROGRESS_BARS = ("tqdm", "trange", "tnrange", "tqdm_notebook", "track")
_CHANGING_METHODS = ("backward", "step", "zero_grad", "pop", "append", "retain_grad")
_BAR_METHODS = ("set_description", "set_postfix", "set_postfix_str", "update", "close", "refresh", "write", "clear")


def repair_plots(draft: RepairDraft) -> Repair | None:
    """Turn statements that only plot into comments, and with them functions and loops that do nothing else."""
    names = {
        name
        for name, path in draft.modules.names.items()
        if path.startswith(tuple(f"{top}." for top in _PLOT_MODULES)) or path in _PLOT_MODULES
    }
    if not names:
        return None
    statements = [node for node in draft.nodes if isinstance(node, ast.stmt)]
    plotting: set[ast.stmt] = set()
    grew = True
    while grew:
        before = len(plotting), len(names)
        for node in statements:
            if node not in plotting and _is_only_plotting(node, names, plotting):
                plotting.add(node)
        grew = before != (len(plotting), len(names))
    for node in statements:
        parent = draft.parent_of(node)
        if node in plotting and parent not in plotting and not isinstance(node, ast.Import | ast.ImportFrom):
            draft.comment_out_statement(node)
    return draft.build_repair("plots")


def _is_only_plotting(node: ast.stmt, names: set[str], plotting: set[ast.stmt]) -> bool:
    """Whether a statement only plots.

    names: of what plots; names that the statement binds are added
    """
    if isinstance(node, ast.Expr | ast.Assign) and node.value is not None:
        if root_name(node.value) not in names or any(
            has_side_effect(part) for part in nodes_outside_call_chain(node.value)
        ):
            return False
        for target in node.targets if isinstance(node, ast.Assign) else []:
            names |= {part.id for part in walk_tree(target) if isinstance(part, ast.Name)}
        return True
    if isinstance(node, ast.For):
        if any(isinstance(part, ast.Name) and part.id in names for part in walk_tree(node.iter)):
            bound = {part.id for part in walk_tree(node.target) if isinstance(part, ast.Name)}
            if all(_is_only_plotting(inner, names | bound, plotting) for inner in node.body):
                return not any(has_side_effect(part) for part in walk_tree(node.iter))
    elif isinstance(node, ast.FunctionDef):
        if all(inner in plotting or only_binds_local_names(inner) for inner in node.body) and any(
            inner in plotting for inner in node.body
        ):
            names.add(node.name)
            return True
        return False
    if isinstance(node, ast.For | ast.If | ast.With) and not getattr(node, "orelse", None):
        heads: list[ast.AST] = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
        heads += [node.iter] if isinstance(node, ast.For) else [node.test] if isinstance(node, ast.If) else []
        changes = any(has_side_effect(part) for head in heads for part in walk_tree(head))
        return not changes and all(inner in plotting for inner in node.body)
    return False


def root_name(node: ast.AST) -> str:
    """The name with which a chain of calls, attributes and subscripts begins; "" if there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def only_binds_local_names(node: ast.stmt) -> bool:
    """Whether a statement can be left out of a function that only plots without other effects: it binds local names, or
    is a string."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Assign)
        and all(isinstance(part, ast.Name | ast.Tuple) for part in node.targets)
        and not any(has_side_effect(part) for part in walk_tree(node.value))
    )


def nodes_outside_call_chain(value: ast.AST) -> list[ast.AST]:
    """The arguments in a chain of calls, without the methods that are called."""
    chain: set[ast.AST] = {value}
    at = value
    while isinstance(at, ast.Attribute | ast.Subscript | ast.Call):
        at = at.func if isinstance(at, ast.Call) else at.value
        chain.add(at)
    return [part for part in walk_tree(value) if part not in chain]


def has_side_effect(node: ast.AST) -> bool:
    """Whether an expression itself changes something: it writes in place, runs a backward, or advances an iterator."""
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
        return True
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "next"
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name in _CHANGING_METHODS or (name.endswith("_") and not name.endswith("__"))


def repair_progress_bars(draft: RepairDraft) -> Repair | None:
    """Replace `tqdm(x)` by `x` and `trange(n)` by `range(n)`."""
    for call in draft.calls_with_path(
        lambda path: path.split(".")[0] in ("tqdm", "fastprogress") and path.split(".")[-1] in _PROGRESS_BARS
    ):
        if not call.args or isinstance(call.args[0], ast.Starred):
            return None
        name = draft.assigned_name(call)
        uses = [(use, draft.enclosing_statement(use)) for use in draft.reads_of_name(name)]
        if draft.dotted_path(call.func).endswith("range"):
            text = ", ".join(ast.unparse(argument) for argument in call.args)
            draft.replace_node(call, f"range({text})")
        else:
            draft.replace_node(call, ast.get_source_segment("\n".join(draft.lines), call.args[0]) or "")
        for use, statement in uses:
            parent = draft.parent_of(use)
            if isinstance(parent, ast.Attribute):
                if parent.attr not in _BAR_METHODS or not isinstance(statement, ast.Expr):
                    return None
                draft.comment_out_statement(statement)
    return draft.build_repair("progress")


def repair_input_calls(draft: RepairDraft) -> Repair | None:
    """Replace `input()` by an answer that suits how it is used."""
    if "input" in {
        node.id for node in draft.nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }:
        return None
    for call in draft.find_calls(lambda call: isinstance(call.func, ast.Name) and call.func.id == "input"):
        outer = draft.parent_of(call)
        made = outer.func.id if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) else ""
        draft.replace_node(call, {"int": '"3"', "float": '"0.5"', "eval": '"3"'}.get(made, '"hello"'))
    return draft.build_repair("input")
