"""The state of all entities as reported in the trace, and what has changed since the last step."""

from typing import Any

from gradbox.wire import entities
from gradbox.wire.base import Number, Value

NO_TENSOR: entities.Tensor = {}
NO_STORAGE: entities.Storage = {}


class TraceDelta:
    """The reported state and the pending changes. `tensor`, `storage`, `frame` and `object` read `state` by the kind
    that a uid's letter names.

    state: the facts of each entity as reported
    pending: the fields that the next step reports
    removed: the next step's `gone`
    """

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}
        self.pending: dict[str, Any] = {}
        self.removed: list[str] = []

    def tensor_state(self, uid: str) -> entities.Tensor:
        """The reported facts of a tensor; empty if none are reported."""
        facts: entities.Tensor = self.state.get(uid, NO_TENSOR)
        return facts

    def storage_state(self, uid: str) -> entities.Storage:
        """The reported facts of a storage; empty if none are reported."""
        facts: entities.Storage = self.state.get(uid, NO_STORAGE)
        return facts

    def frame_state(self, uid: str) -> entities.Frame | None:
        facts: entities.Frame | None = self.state.get(uid)
        return facts

    def object_state(self, uid: str) -> entities.Object | None:
        facts: entities.Object | None = self.state.get(uid)
        return facts

    def update_entity(self, uid: str, facts: entities.Entity) -> bool:
        """Report those of these facts that differ from the state. Returns whether any did. New facts may be kept
        without copying."""
        fields: Any = facts
        recorded = self.state.get(uid)
        if recorded is None:
            self.state[uid] = fields
            self.pending[uid] = {key: value for key, value in fields.items() if value is not None}
            return True
        changed = {}
        for key, value in fields.items():
            old = recorded.get(key)
            if old is value:
                continue
            kind = type(value)
            if kind is type(old) and (kind is str or kind is int):
                if old != value:
                    changed[key] = value
            elif old != value or differs_on_wire(old, value):
                changed[key] = value
        if not changed:
            return False
        recorded.update(changed)
        self.pending.setdefault(uid, {}).update(changed)
        return True

    def patch_cells(self, uid: str, cells: entities.Cells, patch: dict[str, dict[str, Number]]) -> None:
        """Set a storage's cells, reporting only the patch."""
        self.state[uid]["cells"] = cells
        self.pending.setdefault(uid, {})["cells_at"] = patch

    def splice_items(self, uid: str, facts: entities.Object, splice: tuple[int, int, list[entities.Item]]) -> None:
        """Set a container's facts, reporting only the splice of its items."""
        self.state[uid]["items"] = facts.get("items")
        self.update_entity(uid, facts)
        self.pending.setdefault(uid, {})["splice"] = [splice]

    def splice_blocks(self, uid: str, facts: entities.Device, splice: tuple[int, int, list[entities.Block]]) -> None:
        """Set the facts of a device's allocator, reporting only the splice of its blocks."""
        self.state[uid]["blocks"] = facts.get("blocks")
        self.update_entity(uid, facts)
        self.pending.setdefault(uid, {})["splice"] = [splice]

    def add_frame(self, uid: str, facts: entities.Frame) -> None:
        """Report a new frame, which has no variables yet."""
        self.update_entity(uid, facts)
        self.pending[uid]["vars"] = {}

    def set_variable(self, uid: str, name: str, value: Value) -> bool:
        """Bind a frame's variable. Returns whether its value changed."""
        variables = self.state[uid]["vars"]
        if name in variables:
            before = variables[name]
            if before == value and not differs_on_wire(before, value):
                return False
        variables[name] = value
        pending = self.pending.setdefault(uid, {})
        pending.setdefault("vars", {})[name] = value
        if name in pending.get("unset", ()):
            pending["unset"].remove(name)
        return True

    def unset_variable(self, uid: str, name: str) -> bool:
        """Unbind a frame's variable. Returns whether it was bound."""
        variables = self.state[uid]["vars"]
        if name not in variables:
            return False
        del variables[name]
        pending = self.pending.setdefault(uid, {})
        pending.get("vars", {}).pop(name, None)
        pending.setdefault("unset", []).append(name)
        return True

    def remove_entity(self, uid: str) -> None:
        """Report that an entity no longer exists."""
        if self.state.pop(uid, None) is not None:
            self.removed.append(uid)

    def take_pending_changes(self) -> tuple[dict[str, entities.Entity], list[str]]:
        """Return a step's `set` and `gone`, and begin with empty ones."""
        pending, removed = dict(self.pending), list(self.removed)
        self.pending.clear()  # new ones would take the places of what the program just freed
        self.removed.clear()
        return pending, removed


def differs_on_wire(a: Any, b: Any) -> bool:
    """Whether two values differ on the wire although they may be equal in Python: True is not 1, 1 is not 1.0, 0.0 is
    not -0.0."""
    if type(a) is not type(b):
        return True
    if isinstance(a, list | tuple):
        return any(differs_on_wire(x, y) for x, y in zip(a, b, strict=False))
    if isinstance(a, dict):
        return any(differs_on_wire(value, b.get(key)) for key, value in a.items())
    return type(a) is float and str(a) != str(b)
