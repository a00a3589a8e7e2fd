"""What dropout and batch norm were told when they ran: to drop, to take the statistics of the batch; and in whose call
that was."""

from types import FrameType
from typing import Any, Literal, NamedTuple

import torch

from gradbox.recorder import introspection
from gradbox.recorder.stack import frames_outward
from gradbox.recorder.uids import ObjectUids
from gradbox.wire.events import CallingModule, LayerMode

MAX_CALLING_MODULES = 16
"""Modules that one event lists; of more, the outermost and the innermost."""


class ModeArguments(NamedTuple):
    """Where an operation takes its mode: `training` and, of dropout, the probability `p`; by position, or by name."""

    layer: Literal["dropout", "batch_norm"]
    training: int | str | None
    p: int | str | None = None


MODE_ARGUMENTS = {
    **{
        f"aten::{name}{in_place}": ModeArguments("dropout", 2, 1)
        for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
        for in_place in ("", "_")
    },
    "aten::native_dropout": ModeArguments("dropout", 2, 1),
    "aten::scaled_dot_product_attention": ModeArguments("dropout", None, 4),
    "aten::batch_norm": ModeArguments("batch_norm", 5),
}
"""By the dispatcher's name. Attention has no mode of its own: it drops with the probability that it is given."""

_CALL_CODE = torch.nn.Module._call_impl.__code__
"""Of the frames in which modules are called; their `self` is the module."""


def layer_mode_event(
    name: str, args: Any, kwargs: dict[str, Any], frame: FrameType | None, objects: ObjectUids, op: int | None
) -> LayerMode:
    """The event of an operation in `MODE_ARGUMENTS`.

    frame: that called it
    op: its place in the step's log
    """
    layer, training_argument, p_argument = MODE_ARGUMENTS[name]
    p = float(_argument(args, kwargs, p_argument, "dropout_p" if training_argument is None else "p", 0.0))
    training = p > 0 if training_argument is None else bool(_argument(args, kwargs, training_argument, "train", False))
    event: LayerMode = {
        "kind": "event",
        "event": "layer_mode",
        "layer": layer,
        "training": training,
        "modules": [_calling_module(module, objects) for module in modules_being_called(frame)],
    }
    if layer == "dropout":
        event["p"] = p
    if op is not None:
        event["op"] = op
    return event


def modules_being_called(frame: FrameType | None) -> list[torch.nn.Module]:
    """The modules in whose calls a frame runs, the innermost first."""
    modules: list[torch.nn.Module] = []
    for outer in frames_outward(frame):
        if outer.f_code is _CALL_CODE:
            module = outer.f_locals.get("self")
            if isinstance(module, torch.nn.Module):
                modules.append(module)
    if len(modules) > MAX_CALLING_MODULES:
        del modules[MAX_CALLING_MODULES - 1 : -1]
    return modules


def _argument(args: Any, kwargs: dict[str, Any], position: int | str | None, name: str, default: Any) -> Any:
    if isinstance(position, int) and position < len(args):
        return args[position]
    return kwargs.get(name, default)


def _calling_module(module: torch.nn.Module, objects: ObjectUids) -> CallingModule:
    """training: as the module has it now. Its uid is absent where no recorded name leads to it."""
    members = introspection.instance_dict(module) or {}
    described: CallingModule = {
        "type": introspection.class_name(type(module)),
        "training": members.get("training") is True,
    }
    uid = objects.find_uid(module)
    if uid is not None:
        described["module"] = uid
    return described
