"""Repairs for programs that apply torchvision's transforms to their own pictures, and for unused imports."""

import ast

from gradbox.language.names import bound_names, import_insertion_line
from gradbox.language.policy import UNAVAILABLE_MODULES
from gradbox.language.repair_draft import RepairDraft
from gradbox.wire.program import Repair

_TRANSFORMS = "torchvision.transforms."
TRANSFORM_HELPERS = {
    "Compose": (
        "compose_transforms",
        '''\
def compose_transforms(steps):
    """Stands in for transforms.Compose: one after the other."""
    def apply(picture):
        for step in steps:
            picture = step(picture)
        return picture
    return apply
''',
    ),
    "ToTensor": (
        "array_to_tensor",
        '''\
def array_to_tensor():
    """Stands in for transforms.ToTensor, of arrays: height, width, channels become channels, height, width."""
    def apply(picture):
        picture = picture[:, :, None] if picture.ndim == 2 else picture
        tensor = {torch}.from_numpy(picture.transpose((2, 0, 1))).contiguous()
        return tensor.to({torch}.get_default_dtype()).div(255) if tensor.dtype == {torch}.uint8 else tensor
    return apply
''',
    ),
    "Normalize": (
        "normalize_channels",
        '''\
def normalize_channels(mean, std, inplace=False):
    """Stands in for transforms.Normalize, of tensors."""
    def apply(picture):
        by_channel = [{torch}.as_tensor(values, dtype=picture.dtype).view(-1, 1, 1) for values in (mean, std)]
        return (picture if inplace else picture.clone()).sub_(by_channel[0]).div_(by_channel[1])
    return apply
''',
    ),
}
"""For each transform the function that replaces it, and its code, which does the same as torchvision's."""


def repair_transforms(draft: RepairDraft) -> Repair | None:
    """Replace transforms that need nothing but torch by functions in the program."""
    if draft.calls_with_path(lambda path: path.startswith("torchvision.datasets.")):
        return None  # random pictures stand in for those, and need no transforms
    calls = draft.calls_with_path(lambda path: path.startswith(_TRANSFORMS))
    used: dict[str, None] = {}
    for call in calls:
        name = draft.dotted_path(call.func).removeprefix(_TRANSFORMS)
        if name == "Lambda" and len(call.args) == 1 and not call.keywords:
            draft.replace_node(call.func, "")  # the function alone, in its brackets
        elif name in TRANSFORM_HELPERS:
            used[name] = None
            draft.replace_node(call.func, TRANSFORM_HELPERS[name][0])
        else:
            return None
    if {TRANSFORM_HELPERS[name][0] for name in used} & bound_names(draft.nodes):
        return None
    line = import_insertion_line(draft.tree) + 1
    code = "".join(TRANSFORM_HELPERS[name][1].replace("{torch}", draft.torch) for name in used)
    if code:
        imported = draft.torch in draft.modules.names or "{torch}" not in "".join(
            TRANSFORM_HELPERS[name][1] for name in used
        )
        draft.insert_source_line(line, 0, code if imported else f"import torch\n{code}")
    return draft.build_repair("transforms", None, "torchvision")


def repair_unused_imports(draft: RepairDraft) -> Repair | None:
    """Remove imports of missing packages that the program does not use."""
    for node in draft.nodes:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        unused = [alias for alias in node.names if _is_unused(draft, node, alias)]
        if len(unused) == len(node.names):
            draft.comment_out_statement(node)
        elif unused:
            kept = [ast.unparse(alias) for alias in node.names if alias not in unused]
            start = f"from {node.module} import" if isinstance(node, ast.ImportFrom) else "import"
            draft.replace_node(node, f"{start} {', '.join(kept)}")
    return draft.build_repair("unused")


def _is_unused(draft: RepairDraft, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    """Whether an imported name belongs to a missing package and is read nowhere."""
    path = (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
    name = alias.asname or alias.name.split(".")[0]
    is_missing = UNAVAILABLE_MODULES.get(path.split(".")[0]) == "missing"
    return is_missing and name != "*" and not draft.reads_of_name(name)
