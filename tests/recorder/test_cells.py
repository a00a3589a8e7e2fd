"""Summaries of many elements and comparisons of storages: as numpy says them, whatever the dtype."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradbox.recorder.probes import cells
from gradbox.recorder.probes.storages import changed_elements
from gradbox.wire.entities import BINS

RANDOM = np.random.default_rng(0)
MANY = 2 * cells.ELEMENTS_PER_CACHED_PASS + 7

CONTENTS: dict[str, Callable[[int], Any]] = {
    "spread": lambda n: RANDOM.standard_normal(n) * 10,
    "on the edges of bins": lambda n: RANDOM.integers(0, BINS + 1, n),
    "all the same": lambda n: np.full(n, 3.0),
    "far from zero": lambda n: 30_000 + RANDOM.integers(0, 3, n),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "i4", "i8", "u2"])
@pytest.mark.parametrize("contents", CONTENTS)
@pytest.mark.parametrize("count", [5, MANY])
def test_a_histogram_is_that_of_numpy(dtype: str, contents: str, count: int) -> None:
    values = np.abs(CONTENTS[contents](count)).astype(dtype)
    counts = cells.histogram_counts(values, values.min().item(), values.max().item())
    assert counts == np.histogram(values.astype("f8"), bins=BINS)[0].tolist()


@pytest.mark.parametrize("hole", [np.nan, np.inf, -np.inf, None])
def test_a_summary_is_of_the_finite_elements(hole: float | None) -> None:
    values = RANDOM.standard_normal(MANY).astype("f4")
    if hole is not None:
        values[::5] = hole
    finite = values[np.isfinite(values)]
    summary: dict[str, Any] = {**cells.summary_of_array(values, "float32")}
    assert summary["min"] == finite.min() and summary["max"] == finite.max()
    assert sum(summary["bins"]) == finite.size == (MANY if hole is None else MANY - -(-MANY // 5))
    assert summary["norm"] == pytest.approx(float(np.linalg.norm(finite.astype("f8"))))


def test_elements_that_are_all_finite_are_not_copied() -> None:
    values = np.ones(MANY, "f4")
    assert cells.finite_elements(values) is values


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_elements_differ_where_one_of_their_bytes_does(size: int) -> None:
    old = bytes(range(16)) * size
    new = bytearray(old)
    for byte in (0, size, 16 * size - 1):
        new[byte] ^= 128
    assert changed_elements(old, bytes(new), size) == (3, [0, 1, 15])
    assert changed_elements(old, old + bytes(size), size) == (1, [16])
    assert changed_elements(None, old, size) == (None, [])
