"""Facts about memory on a device are computed there, and only what is shown is copied. The CPU stands in for the
device."""

import hashlib
from typing import Any

import numpy as np
import pytest
import torch

from gradbox.recorder.devices import device_bytes
from gradbox.recorder.devices.device_bytes import TorchBytes, tensor_summary
from gradbox.recorder.probes import backward, cells

SIZE = 3 * device_bytes.CHUNK_ELEMENTS + 5


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of all that was fetched from the device."""
    sizes: list[int] = []
    fetch = device_bytes.to_cpu

    def counted(tensor: torch.Tensor) -> torch.Tensor:
        sizes.append(tensor.nbytes)
        return fetch(tensor)

    monkeypatch.setattr(device_bytes, "to_cpu", counted)
    return sizes


def approximately(summary: Any) -> Any:
    if summary is None:
        return None
    return {**summary, "mean": pytest.approx(summary["mean"]), "norm": pytest.approx(summary["norm"])}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "complex64", "bool"])
@pytest.mark.parametrize("size", [1500, SIZE])
def test_a_summary_is_that_of_the_same_bytes_here(dtype: str, size: int, fetched: list[int]) -> None:
    values = (torch.arange(size) * 7919 % 1013 / (8 if "f" in dtype else 1)).to(getattr(torch, dtype))
    if values.is_floating_point():
        values[3], values[17] = float("nan"), float("inf")
    here = cells.summary_of_bytes(values.view(torch.uint8).numpy().tobytes(), dtype)
    there = TorchBytes(values.untyped_storage())
    assert there.summary(dtype) == approximately(here)
    assert sum(fetched) < 2000 and (here is None) == (dtype in ("complex64", "bool"))


def test_a_digest_differs_with_each_element(fetched: list[int]) -> None:
    values = torch.zeros(SIZE, dtype=torch.uint8)
    there, seen = TorchBytes(values.untyped_storage()), set()
    for k in (0, 1, 4 * device_bytes.CHUNK_ELEMENTS // 3, SIZE - 1):
        values[k] += 1
        seen.add(there.digest())
    values[0], values[4] = 0, 1
    seen.add(there.digest())
    assert len(seen) == 5 and sum(fetched) < 2000


def test_a_region_has_a_digest_of_its_own_elements(fetched: list[int]) -> None:
    values = torch.zeros(2000, 1500)
    there, column = TorchBytes(values.untyped_storage()), (4, (2000, 700), (1500, 1), 10)
    before = there.region_digest(*column)
    values[5, 800] = 1
    assert there.region_digest(*column) == before
    values[1999, 10] = 1
    assert there.region_digest(*column) != before
    assert there.region_digest(4, (3,), (1500,), 800) == torch.zeros(3).numpy().tobytes(), (
        "few bytes stand for themselves"
    )
    assert there.region_digest(4, (2001,), (1500,), 0) == b"" and there.region_digest(4, (0,), (1,), 0) == b""
    assert sum(fetched) < 2000


def test_only_the_requested_slice_is_copied(fetched: list[int]) -> None:
    values = torch.arange(SIZE, dtype=torch.int32)
    there = TorchBytes(values.untyped_storage())
    assert len(there) == 4 * SIZE and there[40:48] == values[10:12].numpy().tobytes()
    assert fetched == [8]


@pytest.mark.parametrize("shape", [(2000, 2000), (3, 7)])
def test_summaries_of_views_are_those_of_their_elements(shape: tuple[int, int]) -> None:
    base = torch.arange(shape[0] * shape[1], dtype=torch.float32).reshape(shape)
    for view in (base, base.t(), base[:, ::2], base[0].expand(shape)):
        whole = cells.summary_of_bytes(view.contiguous().numpy().tobytes(), "float32")
        assert tensor_summary(view) == approximately(whole)
        assert backward.element_summary(view) == approximately(whole)


def test_large_memory_is_read_in_pieces_with_the_same_result() -> None:
    size = cells.CHUNK_ELEMENTS * 2 + 3
    values = (np.arange(size) % 1009 - 500).astype("f4")
    values[7] = np.nan
    summary = cells.summary_of_bytes(values.tobytes(), "float32")
    assert summary is not None and (summary["min"], summary["max"], summary["bins"]) == (-500, 508, None)
    assert summary["mean"] == pytest.approx(float(np.nanmean(values, dtype="f8")))
    region = (4, (1500, 1400), (2000, 1), 3)
    whole = cells.region_bytes(values.tobytes(), *region)
    assert cells.region_digest(values.tobytes(), *region) == hashlib.blake2b(whole, digest_size=16).digest()
