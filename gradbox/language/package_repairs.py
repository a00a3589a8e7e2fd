"""Repairs for programs that use missing data: data sets and downloads are replaced by random numbers or text."""

import ast

from gradbox.language.file_repairs import text_read_replacement
from gradbox.language.repair_draft import RepairDraft
from gradbox.wire.program import Repair

_GREYSCALE_SETS = ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST")


def repair_torchvision_datasets(draft: RepairDraft) -> Repair | None:
    """Replace data sets of torchvision by random pictures and classes, without transforms, which are not needed
    then."""
    grey = False
    for call in draft.calls_with_path(lambda path: path.startswith("torchvision.datasets.")):
        name = draft.assigned_name(call)
        if any(isinstance(draft.parent_of(use), ast.Attribute) for use in draft.reads_of_name(name)):
            return None  # its classes, its file names
        grey = grey or draft.dotted_path(call.func).rsplit(".", 1)[1] in _GREYSCALE_SETS
        pictures, classes = f"{draft.torch}.randn({{shape}})", f"{draft.torch}.randint(0, 10, ({{n}},))"
        if any(_takes_single_items(draft, use) for use in [call, *draft.reads_of_name(name)]):
            draft.replace_node(call, f"list(zip(map({draft.torch}.clone, {pictures}), {classes}.tolist()))")
        else:
            draft.replace_node(call, f"{draft.torch}.utils.data.TensorDataset({pictures}, {classes})")
    if not draft.sorted_edits():
        return None
    for node in draft.nodes:
        if isinstance(node, ast.Assign) and draft.dotted_path(getattr(node.value, "func", node)).startswith(
            "torchvision.transforms."
        ):
            name = draft.assigned_name(node.value)
            if name and all(use in draft.removed for use in draft.reads_of_name(name)):
                draft.comment_out_statement(node)
    return draft.build_repair("pictures", "64, 1, 28, 28" if grey else "64, 3, 32, 32", "torchvision")


def _takes_single_items(draft: RepairDraft, data: ast.AST) -> bool:
    """Whether a program takes single pictures, which have memory of their own and a number as class."""
    parent = draft.parent_of(data)
    return (
        (isinstance(parent, ast.Subscript) and parent.value is data)
        or (isinstance(parent, ast.For | ast.comprehension) and parent.iter is data)
        or (
            isinstance(parent, ast.Call)
            and isinstance(parent.func, ast.Name)
            and parent.func.id in ("enumerate", "zip", "iter")
        )
    )


def repair_sklearn_samples(draft: RepairDraft) -> Repair | None:
    """Replace sklearn's `X, y = make_moons(…)` and the like by random points with random classes or values."""
    for call in draft.calls_with_path(lambda path: path.startswith("sklearn.datasets.")):
        statement = draft.enclosing_statement(call)
        pair = (
            isinstance(statement, ast.Assign)
            and statement.value is call
            and isinstance(statement.targets[0], ast.Tuple)
        )
        if not pair or len(statement.targets[0].elts) != 2:  # type: ignore[union-attr]
            return None
        regression = draft.dotted_path(call.func).endswith(("regression", "diabetes", "housing", "friedman1"))
        labels = f"{draft.numpy}.random.randn({{n}})" if regression else f"{draft.numpy}.random.randint(0, 2, {{n}})"
        draft.replace_node(call, f"{draft.numpy}.random.randn({{shape}}), {labels}")
    return draft.build_repair("samples", "100, 2", "sklearn")


def repair_text_downloads(draft: RepairDraft) -> Repair | None:
    """Replace text that is fetched from an address by a sentence."""
    text = text_read_replacement("read") or ""
    for call in draft.calls_with_path(
        lambda path: path in ("requests.get", "urllib.request.urlopen", "urllib.request.urlretrieve")
    ):
        access = draft.parent_of(call)
        if draft.dotted_path(call.func).endswith("urlretrieve"):
            if not draft.is_whole_statement(call) or len(call.args) < 2:
                return None
            draft.replace_node(call, f'open({ast.unparse(call.args[1])}, "w").write({text})')
        elif isinstance(access, ast.Attribute) and access.attr == "text":
            draft.replace_node(access, text)
        else:
            return None
    return draft.build_repair("text", None)
