"""What the hooks of one statement find out for the step that is being made."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gradbox.recorder.code_places import CodePlace
from gradbox.wire import entities
from gradbox.wire.events import LogEntry, Op

MAX_OP_PLACES = 20
"""Operations of a step that record which line without steps asked for them."""


class OpCall:
    """One operation of the running statement; `entry` is its entry in the log.

    inputs: pairs of a tensor and whether it requires grad
    results: for each new tensor (uid, leaf, dtype)
    writes: pairs of a storage and the tensor through which it was written
    called_directly: the program called it, not a function of torch
    deep_copies: it was called for `copy.deepcopy`
    repeated_counts: see `repeated_index_counts`
    log_index: its index in the step's log
    place: if it writes or cuts a path, the line without steps that asked for it
    """

    __slots__ = (
        "called_directly",
        "cuts_paths",
        "deep_copies",
        "entry",
        "inference_mode",
        "inputs",
        "log_index",
        "place",
        "repeated_counts",
        "results",
        "writes",
    )

    def __init__(self, entry: Op) -> None:
        self.entry = entry
        self.inputs: list[tuple[str, bool]] = []
        self.results: list[tuple[str, bool, str]] = []
        self.writes: list[tuple[str, str]] = []
        self.called_directly = self.cuts_paths = self.deep_copies = self.inference_mode = False
        self.repeated_counts: tuple[int, int] | None = None
        self.log_index = 0
        self.place: CodePlace | None = None


class DetachedCopy(NamedTuple):
    """A new leaf that requires no grad, on the storage of a tensor that does.

    reason: "detach" or "data"
    user: the line without steps that used it when it was first seen; torch does not tell which line made it
    """

    source: str
    copy: str
    reason: Literal["detach", "data"]
    user: CodePlace | None = None


@dataclass(slots=True)
class Observation:
    """What one step observes. The hooks (operators, the engine, the recorder's calls) fill it, the probes read it, and
    it is reset after the step.

    step: the number of the step in the making
    log: its log
    everything_requested: a hook asks to observe everything that is alive, not only what the statement may have changed
    observe_all: the observation does observe everything
    unstepped_code_ran: it does so only because code without steps may have run
    slots_unobserved: saved tensors may have changed in a way that no operation, counter or byte shows
    exposes_memory: the statement may have handed out a tensor's memory
    skipped_steps: steps that passed unrecorded before this one
    skipped_visits: visits of a backward pass that passed unrecorded before this one
    op_places: how many operations of the log have a place
    ops_unobserved: operators ran that were not recorded
    ops_outside_engine: operators ran that the engine did not call by itself
    tensors_printed: torch formatted a tensor as text
    storages_rebound: tensors may have moved to other storages
    counters_ambiguous: a new tensor may share a version counter that only a saved slot holds
    has_stepped: an optimizer has stepped
    displayed_repr: what an interactive session shows of the statement's value
    array_bases: tensor -> the new numpy array whose memory it owns
    touched_tensors, touched_storages: those that operators took or made
    reached_tensors: tensors held by something other than the program's names
    provisional_facts: facts of tensors that may die before they are observed
    graph_roots, visited_nodes: nodes from which to walk, and (node, uid) of those that the engine ran
    ended_backwards, retired_frames, dead_uids: uids of passes, frames and other entities that are over
    """

    step: int = 0
    everything_requested: bool = True
    observe_all: bool = True
    unstepped_code_ran: bool = False
    slots_unobserved: bool = True
    past_unknown: bool = False
    exposes_memory: bool = False
    skipped_steps: int = 0
    skipped_visits: int = 0
    op_places: int = 0
    ops_unobserved: bool = False
    ops_outside_engine: bool = False
    tensors_printed: bool = False
    storages_rebound: bool = False
    counters_ambiguous: bool = False
    has_stepped: bool = False
    displayed_repr: str | None = None
    log: list[LogEntry] = field(default_factory=list)
    op_calls: list[OpCall] = field(default_factory=list)
    touched_tensors: dict[str, None] = field(default_factory=dict)
    touched_storages: set[str] = field(default_factory=set)
    reached_tensors: list[str] = field(default_factory=list)
    detached_copies: list[DetachedCopy] = field(default_factory=list)
    array_bases: dict[str, str] = field(default_factory=dict)
    provisional_facts: dict[str, entities.Tensor] = field(default_factory=dict)
    graph_roots: list[Any] = field(default_factory=list)
    visited_nodes: list[tuple[Any, str]] = field(default_factory=list)
    ended_backwards: list[str] = field(default_factory=list)
    retired_frames: list[str] = field(default_factory=list)
    dead_uids: list[str] = field(default_factory=list)

    def append_log_entry(self, entry: LogEntry) -> int:
        """Add an entry to the log. Returns its index."""
        self.log.append(entry)
        return len(self.log) - 1

    def add_op_place(self, entry: Op, place: entities.CodePlace) -> None:
        """Record which line without steps asked for an operation, as long as the step has room for that."""
        if self.op_places < MAX_OP_PLACES:
            self.op_places += 1
            entry["place"] = place

    def mark_ops_unobserved(self) -> None:
        """Note that operations run, or ran, that are not recorded."""
        self.ops_unobserved = self.slots_unobserved = True

    def last_writes_by_storage(self) -> dict[str, tuple[int, str]]:
        """For each storage the index of the last operation in the log that wrote it, and the tensor through which it
        did."""
        return {storage: (call.log_index, tensor) for call in self.op_calls for storage, tensor in call.writes}

    def reset_for_next_step(self, after_fault: bool) -> None:
        """Begin the next step.

        Containers are emptied, not replaced: new ones would take the addresses that the program just freed.

        after_fault: keep what died or ended, because the failed step did not report it
        """
        self.step += 1
        self.exposes_memory = self.storages_rebound = self.counters_ambiguous = False
        self.past_unknown = self.ops_outside_engine = self.has_stepped = False
        self.skipped_steps = self.skipped_visits = self.op_places = 0
        self.displayed_repr = None
        self.log.clear()
        self.op_calls.clear()
        self.touched_tensors.clear()
        self.reached_tensors.clear()
        self.graph_roots.clear()
        self.visited_nodes.clear()
        if after_fault:
            self.everything_requested = self.slots_unobserved = True
            return
        self.slots_unobserved = False
        self.ops_unobserved = self.tensors_printed = False
        self.touched_storages.clear()
        self.detached_copies.clear()
        self.array_bases.clear()
        self.provisional_facts.clear()
        self.ended_backwards.clear()
        self.retired_frames.clear()
        self.dead_uids.clear()
