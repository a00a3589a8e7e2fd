"""Records backward passes node by node, with hooks on every node that the engine will reach, added before the pass and
removed after it.

A visit is recorded only when the next one begins, when the program takes a step in a hook, or when the engine returns:
until then the node has not released its saved tensors. Only copied values of a gradient are kept.
"""

import ctypes
import sys
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import get_ident
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
import torch
from torch.utils.hooks import RemovableHandle

from gradbox.recorder.code_places import CodePlace, code_place_record, unrecorded_caller
from gradbox.recorder.devices.device_bytes import tensor_summary
from gradbox.recorder.devices.device_kernels import kernels_for_device
from gradbox.recorder.probes import cells, handles, ops
from gradbox.recorder.probes.handles import concrete_shape, has_storage
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.storages import Storages
from gradbox.recorder.probes.tensors import Tensors
from gradbox.recorder.stack import threads_waiting_for_engine
from gradbox.recorder.uids import NodeUids
from gradbox.wire import entities
from gradbox.wire.entities import MAX_CELLS, Summary
from gradbox.wire.events import HookRan
from gradbox.wire.trace import Grad, Visit

MAX_COPY_BYTES = 1 << 16
"""The span in bytes up to which the elements of a device's tensor are copied together with everything between them."""


def copy_element_bytes(tensor: torch.Tensor) -> bytes:
    """Copy the elements in logical order, leaving the tensor as it was: no Python object for its storage is created."""
    size = tensor.element_size()
    if not tensor.numel():
        return b""
    last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    lazy = tensor.is_neg() or (tensor.dtype.is_complex and tensor.is_conj())
    kernels = kernels_for_device(tensor.device)
    if kernels is not None and not lazy and (last + 1) * size <= MAX_COPY_BYTES:
        copied = kernels.copy_bytes(tensor.data_ptr(), (last + 1) * size)
        return cells.region_bytes(copied, size, tensor.shape, tensor.stride(), 0)
    if tensor.device.type != "cpu" or lazy:
        with torch.no_grad():
            tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
        last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    readable = ctypes.string_at(tensor.data_ptr(), (last + 1) * size)
    return cells.region_bytes(readable, size, tensor.shape, tensor.stride(), 0)


def element_summary(tensor: torch.Tensor) -> Summary | None:
    """A summary of the elements, computed where they are; None if they are not real numbers."""
    dtype = str(tensor.dtype)[6:]
    if not cells.can_summarize_dtype(dtype):
        return None
    if tensor.device.type != "cpu" or tensor.is_neg():
        with torch.no_grad():
            return tensor_summary(tensor.detach().resolve_neg())
    size, stride = tensor.element_size(), tensor.stride()
    last = sum((n - 1) * step for n, step in zip(tensor.shape, stride, strict=True))
    readable = memoryview((ctypes.c_char * ((last + 1) * size)).from_address(tensor.data_ptr())).cast("B")
    view = np.ndarray(tuple(tensor.shape), cells.numpy_dtype_code(dtype), readable, 0, [step * size for step in stride])
    return cells.summary_of_array(view, dtype)


def gradient_record(
    tensor: torch.Tensor | None, find_storage: Callable[[torch.Tensor], str | None], max_cells: int
) -> Grad | None:
    """A gradient as it passed, with its values copied: elements in logical order, or a summary if there are many.

    find_storage: returns the uid of a storage that is already known, else None
    max_cells: elements up to which they are listed
    """
    if tensor is None:
        return None
    out: Grad = {"shape": [], "dtype": str(tensor.dtype)[6:], "layout": str(tensor.layout)[6:]}
    try:
        out["shape"] = concrete_shape(tensor) or []
        if not has_storage(tensor) or tensor.device.type == "meta":
            return out
        out["storage"] = find_storage(tensor)
        if tensor.numel() <= max_cells:
            out["cells"] = cells.decode_cells(copy_element_bytes(tensor), out["dtype"])
        elif tensor.numel() <= MAX_CELLS:
            summary = cells.summary_of_bytes(copy_element_bytes(tensor), out["dtype"], cells.STRETCHES_IN_SHORT_SUMMARY)
            if summary is not None:
                out["summary"] = summary
        else:
            out["summary"] = element_summary(tensor)
    except Exception:  # legacy vmap's tensors can be neither listed nor detached
        out.pop("cells", None)
    return out


FIRST_HOOK_ID = 1 << 40
"""The first id for our own hooks, so that the program's hooks are numbered as if they were alone."""

MIN_STEPS_PER_PASS = 10
"""Steps that every pass may take."""


class BackwardPass:
    """One call of the engine.

    step_interval: if the graph is too long for a step at each visit, one visit in this many is a step
    running_visits: visits that have begun; the last one may be over and not recorded yet
    nodes: what the engine can reach; the roots keep these nodes alive as long as it runs
    """

    def __init__(self, uid: str, accumulates: bool) -> None:
        self.uid, self.accumulates = uid, accumulates
        self.running_visits: list[RunningVisit] = []
        self.step_interval = 1
        self.visit_count = 0
        self.nodes: dict[str, Any] = {}
        self.inputs: list[str] = []


@dataclass(slots=True)
class RunningVisit:
    """A visit that has begun.

    hooks: hooks of tensors that run with it
    done: the node has run, and the visit holds what it passed on
    """

    visit: Visit
    hooks: list[HookRan]
    done: bool = False


class UnseenFailure(NamedTuple):
    """A call of the engine that raised while nothing was recorded.

    error_id: the `id` of the exception, which is not kept alive
    """

    error_id: int
    roots: list[Callable[[], Any]]
    accumulates: bool


class VisitRecorder(Protocol):
    """What records the visits of the engine."""

    def running_statement_index(self) -> int | None:
        """The index of the running statement."""

    def backward_step_budget(self) -> int:
        """How many steps one backward pass may take."""

    def record_visit(self, visit: Visit) -> None:
        """Record a step for the visit of a node."""

    def note_backward(self, roots: Any) -> None:
        """The engine is about to run and to accumulate gradients, whether or not that is recorded."""


class BackwardRecorder:
    """Wraps the engine while entered.

    is_recorded: whether what the current thread does is recorded
    running_passes: the passes that run, the innermost last
    ran_while_paused: the engine has run since recording was paused
    """

    def __init__(
        self,
        context: ProbeContext,
        node_uids: NodeUids,
        tensors: Tensors,
        storages: Storages,
        recorder: VisitRecorder,
        is_recorded: Callable[[], bool],
    ) -> None:
        self._context, self._node_uids, self._tensors, self._storages = context, node_uids, tensors, storages
        self._recorder, self._is_recorded = recorder, is_recorded
        self._engine: Any = None
        self._next_hook_id = FIRST_HOOK_ID
        self._paused = self.ran_while_paused = False
        self._unseen_failure: UnseenFailure | None = None
        self._other_threads_passes: list[None] = []  # threads append at once, and none gets lost
        self.running_passes: list[BackwardPass] = []

    def set_recording_paused(self, paused: bool) -> None:
        """Stop or resume observing the engine."""
        self._paused = paused
        if paused:
            self.ran_while_paused = bool(self.running_passes)

    def __enter__(self) -> Self:
        self._engine = torch.autograd._engine_run_backward  # type: ignore[attr-defined]
        setattr(torch.autograd, "_engine_run_backward", self._run_engine_recorded)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(torch.autograd, "_engine_run_backward", self._engine)

    def _run_engine_recorded(self, roots: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._is_recorded():
            self.ran_while_paused = True
            if accumulates(args, kwargs):
                self._other_threads_passes.append(None)
            return self._engine(roots, *args, **kwargs)
        if accumulates(args, kwargs) and not self._context.guard.busy:
            with self._context.guard():
                self._recorder.note_backward(roots)
        if self._paused:
            self.ran_while_paused = True
            try:
                return self._engine(roots, *args, **kwargs)
            except Exception as error:
                self._unseen_failure = UnseenFailure(id(error), weak_references(roots), accumulates(args, kwargs))
                raise
        handles: list[Any] = []
        current_pass: BackwardPass | None = None
        waiting_frame = get_ident(), sys._getframe()
        with self._context.guard():
            current_pass = self._begin_pass(roots, args, kwargs, unrecorded_caller(waiting_frame[1].f_back))
            self._add_hooks_with_own_ids(roots, current_pass, handles)
        try:
            threads_waiting_for_engine.append(waiting_frame)
            with ops.backward_engine_context(self._context.observation):
                return self._engine(roots, *args, **kwargs)
        finally:
            threads_waiting_for_engine.remove(waiting_frame)
            del waiting_frame  # or this frame would hold itself
            with self._context.guard():
                self._end_pass(current_pass, handles)

    def report_other_threads(self) -> None:
        """Report how many backwards other threads have run since the last call."""
        count = len(self._other_threads_passes)
        if count:
            del self._other_threads_passes[:count]
            self._context.observation.append_log_entry(
                {"kind": "event", "event": "backward_unrecorded", "count": count}
            )

    def report_unseen_failure(self, error: BaseException) -> None:
        """Report the engine call that raised the exception by which the program ends, if it happened in an unrecorded
        iteration."""
        failure, self._unseen_failure = self._unseen_failure, None
        if failure is None or failure.error_id != id(error):
            return
        roots = [root() for root in failure.roots]
        facts: entities.Backward = {
            "kind": "backward",
            "api": "backward" if failure.accumulates else "grad",
            "roots": [None if root is None else self._register_tensor_for_engine(root) for root in roots],
        }
        self._context.delta.update_entity(self._context.uids.allocate_uid("b"), facts)

    def _begin_pass(self, roots: Any, args: Any, kwargs: dict[str, Any], caller: CodePlace | None) -> BackwardPass:
        self.record_finished_visits()
        arguments = dict(zip(("grads", "retain_graph", "create_graph", "inputs"), args, strict=False)) | kwargs
        current_pass = BackwardPass(self._context.uids.allocate_uid("b"), accumulates(args, kwargs))
        current_pass.inputs = [
            self._register_tensor_for_engine(t) for t in arguments.get("inputs") or () if isinstance(t, torch.Tensor)
        ]
        facts: entities.Backward = {
            "kind": "backward",
            "api": "backward" if current_pass.accumulates else "grad",
            "roots": [
                self._register_tensor_for_engine(root) if isinstance(root, torch.Tensor) else None for root in roots
            ],
            "inputs": current_pass.inputs or None,
            "keep_graph": bool(arguments.get("retain_graph")),
            "create_graph": bool(arguments.get("create_graph")),
            "parent": self.running_passes[-1].uid if self.running_passes else None,
            "stmt": self._recorder.running_statement_index(),
        }
        if caller is not None:
            facts["place"] = code_place_record(caller)
        self.running_passes.append(current_pass)
        self._context.on_backward_begin()
        self._context.delta.update_entity(current_pass.uid, facts)
        return current_pass

    def _register_tensor_for_engine(self, tensor: torch.Tensor) -> str:
        """Note that the engine is about to ask this tensor for its node."""
        uid = self._tensors.register_tensor(tensor)
        self._tensors.stale_views.mark_current(uid)
        return uid

    def _add_hooks_with_own_ids(self, roots: Any, current_pass: BackwardPass, handles: list[Any]) -> None:
        program_hook_id, RemovableHandle.next_id = RemovableHandle.next_id, self._next_hook_id
        try:
            self._add_node_hooks(roots, current_pass, handles)
        finally:
            self._next_hook_id, RemovableHandle.next_id = RemovableHandle.next_id, program_hook_id

    def _add_node_hooks(self, roots: Any, current_pass: BackwardPass, handles: list[Any]) -> None:
        for node in reachable_nodes(root_nodes(roots)):
            uid = self._node_uids.uid_of(node)
            current_pass.nodes[uid] = node
            variable = getattr(node, "variable", None) if node.name() == "torch::autograd::AccumulateGrad" else None
            target = None
            if (
                current_pass.accumulates and isinstance(variable, torch.Tensor) and variable.requires_grad
            ):  # else frozen since
                target = self._register_tensor_for_engine(variable)
            handles.append(node.register_prehook(self._make_node_prehook(current_pass, uid, target)))
            handles.append(node.register_hook(self._make_node_posthook(current_pass, uid)))
        current_pass.step_interval = -(
            -len(current_pass.nodes) // max(self._recorder.backward_step_budget(), MIN_STEPS_PER_PASS)
        )

    def _make_node_prehook(
        self, current_pass: BackwardPass, uid: str, accumulates_into: str | None
    ) -> Callable[[Any], None]:
        def prehook(grads: Any) -> None:
            if self._paused:  # since the pass began
                return
            with self._context.guard():
                self.record_finished_visits()
                copies = self._gradient_facts(grads)
                visit: Visit = {"backward": current_pass.uid, "node": uid, "grad_outputs": copies, "grad_inputs": []}
                if accumulates_into is not None:
                    visit["accumulates"] = accumulates_into
                    self._mark_gradients_accumulating(grads)
                current_pass.running_visits.append(
                    RunningVisit(
                        visit,
                        self._tensor_hook_events(uid, current_pass.nodes[uid], grads, accumulates_into is not None),
                    )
                )

        return prehook

    def _tensor_hook_events(self, uid: str, node: Any, grads: Any, accumulates: bool) -> list[HookRan]:
        """Events for the tensor hooks that ran before this node's own, and for those that run after it has accumulated.

        The engine calls every hook of a tensor whose gradient is defined.
        """
        variable = getattr(node, "variable", None) if accumulates else None
        outputs = self._tensors.hooked_outputs_of_node(uid)
        if isinstance(variable, torch.Tensor):
            outputs.append((self._tensors.register_tensor(variable), variable))
        ran: list[HookRan] = []
        for tensor_uid, tensor in outputs:
            if grads[tensor.output_nr] is None:
                continue
            if tensor._backward_hooks:
                ran.append(hook_ran_event("tensor", tensor_uid, uid, len(tensor._backward_hooks)))
            if tensor is variable and tensor._post_accumulate_grad_hooks:
                ran.append(
                    hook_ran_event("post_accumulate_grad", tensor_uid, uid, len(tensor._post_accumulate_grad_hooks))
                )
        return ran

    def _mark_gradients_accumulating(self, grads: Any) -> None:
        for grad in grads:
            if isinstance(grad, torch.Tensor) and handles.has_storage(grad):
                self._storages.mark_gradient_accumulating(grad)

    def _make_node_posthook(self, current_pass: BackwardPass, uid: str) -> Callable[[Any, Any], None]:
        def posthook(grad_inputs: Any, _: Any) -> None:
            if self._paused:
                return
            with self._context.guard():
                running = next((r for r in reversed(current_pass.running_visits) if r.visit["node"] == uid), None)
                if running is not None:
                    running.visit["grad_inputs"] = self._gradient_facts(grad_inputs)
                    running.done = True

        return posthook

    def _gradient_facts(self, grads: Iterable[Any] | Any) -> list[Grad | None]:
        gradients_passed = grads if isinstance(grads, tuple | list) else (grads,)
        return [
            gradient_record(
                grad if isinstance(grad, torch.Tensor) else None,
                self._storages.find_tensor_storage,
                self._context.max_cells,
            )
            for grad in gradients_passed
        ]

    def record_finished_visits(self) -> None:
        """Record the visits that are over."""
        for current_pass in self.running_passes:
            while current_pass.running_visits and current_pass.running_visits[-1].done:
                running = current_pass.running_visits.pop()
                visit = running.visit
                current_pass.visit_count += 1
                self._context.observation.log += running.hooks
                self._record_visit(current_pass, visit, current_pass.visit_count % current_pass.step_interval == 0)

    def _record_visit(self, current_pass: BackwardPass, visit: Visit, is_step: bool) -> None:
        """Record that the engine ran a node. What it may have changed is observed with the next step; `is_step` says
        whether that is the visit's own step."""
        observation = self._context.observation
        observation.visited_nodes.append((current_pass.nodes[visit["node"]], visit["node"]))
        observation.reached_tensors += self._tensors.retaining_grad
        accumulates = visit.get("accumulates")
        if accumulates is not None:
            observation.reached_tensors.append(accumulates)
        if is_step:
            self._recorder.record_visit(visit)
        else:
            observation.skipped_visits += 1

    def _end_pass(self, current_pass: BackwardPass | None, handles: list[Any]) -> None:
        for handle in handles:
            handle.remove()
        handles.clear()
        if current_pass is None:
            return
        if self._paused:
            self.running_passes.remove(current_pass)
            current_pass.nodes.clear()
            return
        self.record_finished_visits()
        while current_pass.running_visits:
            running = current_pass.running_visits.pop()
            visit = running.visit
            visit["failed"] = True
            self._context.observation.log += [ran for ran in running.hooks if ran["hook"] == "tensor"]
            self._record_visit(current_pass, visit, True)
        self.running_passes.remove(current_pass)
        current_pass.nodes.clear()
        self._context.on_backward_end()
        observation = self._context.observation
        observation.reached_tensors += [*self._tensors.retaining_grad, *current_pass.inputs]
        observation.ended_backwards.append(current_pass.uid)


def accumulates(args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether a call of the engine is for `backward`, which accumulates into `.grad`."""
    return bool(kwargs.get("accumulate_grad", args[5] if len(args) > 5 else True))


def weak_references(roots: Any) -> list[Callable[[], Any]]:
    """Weak references to the tensors among the roots."""
    return [weakref.ref(root) for root in roots if isinstance(root, torch.Tensor)]


def root_nodes(roots: Any) -> list[Any]:
    """The nodes at which the engine begins."""
    out = []
    for root in roots:
        if not isinstance(root, torch.Tensor):
            out.append(root[0])  # a GradientEdge
        elif root.requires_grad:
            out.append(root.grad_fn if root.grad_fn is not None else torch.autograd.graph.get_gradient_edge(root).node)
    return out


def reachable_nodes(nodes: list[Any]) -> list[Any]:
    """The nodes and everything reachable from them, each once."""
    seen: dict[Any, None] = dict.fromkeys(node for node in nodes if node is not None)
    queue = list(seen)
    for node in queue:
        for other, _ in node.next_functions:
            if other is not None and other not in seen:
                seen[other] = None
                queue.append(other)
    return queue


def hook_ran_event(hook: Literal["tensor", "post_accumulate_grad"], tensor: str, node: str, count: int) -> HookRan:
    """The event for the hooks of a tensor."""
    return {"kind": "event", "event": "hook_ran", "hook": hook, "tensor": tensor, "node": node, "count": count}
