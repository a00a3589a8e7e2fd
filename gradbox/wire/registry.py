"""The table of events as the page reads it: `npm run types` writes static/js/trace/registry.ts from this."""

from dataclasses import asdict
from typing import Any, get_args, get_type_hints

from gradbox.wire.base import Uid
from gradbox.wire.events import EVENTS


def event_rows() -> dict[str, dict[str, Any]]:
    """By the event's name: its row without the model, and `refs`, the fields that hold a uid."""
    return {
        name: {key: value for key, value in asdict(row).items() if key != "model"} | {"refs": uid_fields(row.model)}
        for name, row in EVENTS.items()
    }


def uid_fields(model: Any) -> list[str]:
    """The fields of an event that hold a uid."""

    def holds_uid(hint: Any) -> bool:
        return hint == Uid or any(holds_uid(part) for part in get_args(hint))

    return [field for field, hint in get_type_hints(model, include_extras=True).items() if holds_uid(hint)]
