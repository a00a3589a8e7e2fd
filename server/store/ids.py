"""The id of a saved program or a series: a hash of its content, in characters that are not confused and spell no words."""

import hashlib
import json
import re
from collections.abc import Iterator

from gradbox.wire.base import RequestModel

ALPHABET = "256789dfhjkmnprtvwx"
"""No vowels, no digits that look like vowels (0, 1, 3, 4), and one of each group of similar characters."""

MIN_LENGTH, LENGTH_STEP = 10, 2
_MAX_LENGTH = 61
"""Characters that represent 256 bits."""

_ID = re.compile(f"[{ALPHABET}]{{{MIN_LENGTH},{_MAX_LENGTH}}}")


def canonical_json(content: RequestModel) -> str:
    """The content as canonical JSON in ASCII. Defaults are left out, so that a new field changes no digest."""
    content_fields = content.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps(content_fields, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """The SHA-256 of a canonical content, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def candidate_ids(digest: str) -> Iterator[str]:
    """The possible ids of a content, the shortest first. It gets the first one that no other content has."""
    number, id_ = int(digest, 16), ""
    for _ in range(_MAX_LENGTH):
        number, remainder = divmod(number, len(ALPHABET))
        id_ += ALPHABET[remainder]
    yield from (id_[:length] for length in range(MIN_LENGTH, _MAX_LENGTH, LENGTH_STEP))
    yield id_


def is_plausible(text: str) -> bool:
    """Whether a text has the form of an id."""
    return _ID.fullmatch(text) is not None
