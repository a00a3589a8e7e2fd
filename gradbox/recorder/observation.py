"""What the hooks of one statement learn for the step in the making."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gradbox.recorder.code_places import CodePlace
from gradbox.wire import entities
from gradbox.wire.events import LogEntry, Op

MAX_OP_PLACES = 20
"""Operations of a step that say which line without steps asked for them."""


class OpCall:
    """One operation of the running statement; `entry` is its entry in the log.

    inputs: (tensor, requires grad). results: of new tensors (uid, leaf, dtype). writes: (storage, tensor through
    which). called_directly: the program called it, not a function of torch. deep_copies: for `copy.deepcopy`.
    repeated_counts: see `repeated_index_counts`. log_index: its place in the step's log. place: of one that writes or
    cuts a path, the line that asked for it where that has no steps.
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
    """A new leaf that requires no grad on the storage of a tensor that does.

    reason: "detach" or "data"
    user: the line without steps at which it was met, which used it: torch hides who made it
    """

    source: str
    copy: str
    reason: Literal["detach", "data"]
    user: CodePlace | None = None


@dataclass(slots=True)
class Observation:
    """Filled by the hooks (operators, the engine, the recorder's calls), read by the probes, forgotten with its step.

    step: the number of the step in the making log: its log everything_requested: a hook asks to observe all that lives,
        not only what the statement may have changed observe_all: that is what the observation does unstepped_code_ran:
        only because code without steps may have run slots_unobserved: what nodes saved may have changed in a way that
        no operation, counter or byte shows exposes_memory: the statement may have handed out a tensor's memory
        skipped_steps: steps that passed unrecorded before skipped_visits: the same of a backward pass op_places:
        operations of the log that have one ops_unobserved: operators ran that were not recorded ops_outside_engine:
        operators that the engine did not call by itself tensors_printed: torch put a tensor into words
        storages_rebound: tensors may have gone to other storages counters_ambiguous: a new tensor may share a version
        counter that only a saved slot holds displayed_repr: what an interactive session shows of the statement's value
        array_bases: the tensors that own the memory of new numpy arrays, and those touched_tensors, touched_storages:
        taken or made by operators reached_tensors: held by something outside of the program's names provisional_facts:
        facts of tensors that may die before they are observed graph_roots, visited_nodes: nodes to walk from, and
        (node, uid) of those that the engine ran ended_backwards, retired_frames, dead_uids: uids of what is over
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
        """Add an entry to the log; its place there."""
        self.log.append(entry)
        return len(self.log) - 1

    def add_op_place(self, entry: Op, place: entities.CodePlace) -> None:
        """Have an operation say which line without steps asked for it, while there is room for that in the step."""
        if self.op_places < MAX_OP_PLACES:
            self.op_places += 1
            entry["place"] = place

    def note_ops_unobserved(self) -> None:
        """Operations run, or ran, that are not recorded."""
        self.ops_unobserved = self.slots_unobserved = True

    def last_writes_by_storage(self) -> dict[str, tuple[int, str]]:
        """storage -> (place in the log of the last operation that wrote it, the tensor through which)."""
        return {storage: (call.log_index, tensor) for call in self.op_calls for storage, tensor in call.writes}

    def reset_for_next_step(self, after_fault: bool) -> None:
        """Begin the next step.

        Containers are emptied and not replaced: new ones would take the addresses that the program just freed.

        after_fault: what died or ended is kept, for the step that failed did not report it
        """
        self.step += 1
        self.exposes_memory = self.storages_rebound = self.counters_ambiguous = False
        self.past_unknown = self.ops_outside_engine = False
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
