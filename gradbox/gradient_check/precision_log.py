"""In which precisions a program computes, and the copies in another one that it makes of its leaves."""

from typing import Any

import torch

from gradbox.gradient_check.replay import innermost_program_frame
from gradbox.wire.gradient_check import StaleCopy


class PrecisionLog:
    """Follows the operations of a run in the program's own precision.

    eps: of the lowest precision that took part
    """

    def __init__(self) -> None:
        self.eps = 0.0
        self._copies: dict[int, tuple[int, StaleCopy]] = {}

    def after_operation(self, _index: int, func: Any, args: Any, _kwargs: Any, out: Any) -> None:
        """Note the result's precision, and a copy of what requires grad."""
        if not isinstance(out, torch.Tensor) or not out.is_floating_point():
            return
        self.eps = max(self.eps, torch.finfo(out.dtype).eps)
        if func is torch.ops.aten._to_copy.default and args[0].layout is torch.strided and args[0].dtype != out.dtype:
            frame = innermost_program_frame()
            line = None if frame is None else frame.f_lineno
            copy = StaleCopy(dtype=str(out.dtype).removeprefix("torch."), line=line)
            self._copies[args[0].untyped_storage()._cdata] = (args[0]._version, copy)

    def stale_copy_of(self, leaf: torch.Tensor) -> StaleCopy | None:
        """The last copy of a leaf, if the leaf was written since; else None."""
        if leaf.layout is not torch.strided:
            return None
        version, copy = self._copies.get(leaf.untyped_storage()._cdata, (leaf._version, None))
        return copy if version < leaf._version else None
