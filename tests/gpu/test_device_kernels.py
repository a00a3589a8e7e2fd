"""The kernels that summarize a GPU's memory give the same results as the CPU; the calls to them are tested
everywhere."""

import ctypes
from typing import Any

import numpy as np
import pytest
import torch

from gradbox.recorder.devices import device_kernels
from gradbox.recorder.devices.device_bytes import TorchBytes, kernel_bytes_if_readable, tensor_summary
from gradbox.recorder.devices.device_kernels import (
    KERNEL_DTYPES,
    DeviceKernels,
    DeviceReadError,
    kernel_view_of_layout,
    kernels_for_device,
)
from gradbox.recorder.probes import cells
from tests.gpu.device_kernels import TARGET, first_line

needs_gpu = pytest.mark.skipif(torch.cuda.device_count() == 0, reason="no GPU that torch can use on this machine")
LAYOUTS = [
    ((), (), 0, 1),
    ((5,), (1,), 0, 5),
    ((4, 3), (3, 1), 0, 12),
    ((4, 3), (1, 4), 2, 12),
    ((2, 4, 3), (12, 3, 1), 0, 24),
    ((2, 1, 3), (6, 99, 2), 1, 6),
    ((3, 4), (0, 1), 2, 12),
]


def test_the_compiled_kernels_are_those_of_the_source() -> None:
    assert TARGET.read_text().startswith(first_line()), "python -m tests.gpu.device_kernels"
    for name in ("digest", "describe", "histogram"):
        assert f".visible .entry {name}(" in TARGET.read_text()


@pytest.mark.parametrize(("shape", "stride", "dims", "count"), LAYOUTS)
def test_adjacent_dimensions_are_merged(shape: tuple[int, ...], stride: tuple[int, ...], dims: int, count: int) -> None:
    view = kernel_view_of_layout((4, shape, stride, 0))
    assert (view.dims, view.count, view.size) == (dims, count, 4)
    offsets = np.lib.stride_tricks.as_strided(np.arange(200), shape, [step * 8 for step in stride]).reshape(-1)
    assert [element_at(view, index) for index in range(count)] == offsets.tolist()


def element_at(view: Any, index: int) -> int:
    """As the kernels compute it."""
    if not view.dims:
        return index
    at = 0
    for dim in reversed(range(view.dims)):
        index, place = divmod(index, view.shape[dim])
        at += place * view.stride[dim]
    return at


def test_more_dimensions_than_the_kernels_know_are_refused() -> None:
    shape, stride = [2] * 13, [3**k for k in range(13)]
    with pytest.raises(DeviceReadError, match="13 dimensions"):
        kernel_view_of_layout((4, shape, stride, 0))


def test_the_processor_has_no_kernels() -> None:
    assert kernels_for_device(torch.device("cpu")) is None


def test_structures_have_the_size_that_the_kernels_expect() -> None:
    assert [
        ctypes.sizeof(kind)
        for kind in (
            device_kernels._ViewStruct,
            device_kernels._HistogramEdgesStruct,
            device_kernels._StretchStatisticsStruct,
        )
    ] == [
        16 + 2 * 8 * device_kernels.MAX_DIMS,
        24 + 17 * 8,
        48,
    ]


@pytest.fixture(scope="module")
def kernels() -> DeviceKernels:
    torch.ones(1, device="cuda")
    found = kernels_for_device(torch.device("cuda", 0))
    assert found is not None
    return found


def approximately(summary: Any) -> Any:
    return summary if summary is None else {**summary, "mean": pytest.approx(summary["mean"])}


@needs_gpu
@pytest.mark.parametrize("dtype", KERNEL_DTYPES)
@pytest.mark.parametrize("size", [64, 1500, 300_001])
def test_a_summary_is_that_of_the_same_bytes_here(dtype: str, size: int, kernels: DeviceKernels) -> None:
    values = (torch.arange(size) * 7919 % 1013 / (8 if "float" in dtype else 9)).to(getattr(torch, dtype))
    if values.is_floating_point():
        values[3], values[17] = float("nan"), float("inf")
    here = cells.summary_of_bytes(values.view(torch.uint8).numpy().tobytes(), dtype)
    there = values.cuda()
    assert kernel_bytes_if_readable(kernels, there.data_ptr(), there.nbytes).summary(dtype) == approximately(here)  # type: ignore[union-attr]


@needs_gpu
def test_summaries_of_views_are_those_of_their_elements() -> None:
    base = torch.arange(2000 * 700, dtype=torch.float32, device="cuda").reshape(2000, 700)
    for view in (base, base.t(), base[:, ::2], base[0].expand(2000, 700), base[::3, 5:9]):
        whole = cells.summary_of_bytes(view.contiguous().cpu().numpy().tobytes(), "float32")
        assert tensor_summary(view) == approximately(whole)


@needs_gpu
def test_a_digest_differs_with_each_element(kernels: DeviceKernels) -> None:
    values = torch.zeros(3_000_001, dtype=torch.uint8, device="cuda")
    there, seen = kernel_bytes_if_readable(kernels, values.data_ptr(), values.nbytes), set()
    for k in (0, 1, 1_000_000, 3_000_000):
        values[k] += 1
        seen.add(there.digest())  # type: ignore[union-attr]
    values[0], values[4] = 0, 1
    seen.add(there.digest())  # type: ignore[union-attr]
    assert len(seen) == 5
    assert there.digest() in seen, "the same bytes have the same digest"  # type: ignore[union-attr]


@needs_gpu
def test_the_kernels_take_no_memory_of_torch(kernels: DeviceKernels) -> None:
    values = torch.randn(1 << 22, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    there = kernel_bytes_if_readable(kernels, values.data_ptr(), values.nbytes)
    assert there.summary("float32") and there.digest() and there[:64]  # type: ignore[union-attr, index]
    assert torch.cuda.max_memory_allocated() == before
    assert TorchBytes(values.untyped_storage()).digest() and torch.cuda.max_memory_allocated() > before


@needs_gpu
def test_a_read_waits_for_what_another_stream_writes(kernels: DeviceKernels) -> None:
    values = torch.zeros(1 << 24, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(20):
            values.add_(1)
    assert kernel_bytes_if_readable(kernels, values.data_ptr(), values.nbytes)[:4] == np.float32(20).tobytes()  # type: ignore[index]


@needs_gpu
def test_nothing_is_read_while_a_graph_is_captured(kernels: DeviceKernels) -> None:
    graph, values = torch.cuda.CUDAGraph(), torch.ones(4, device="cuda")
    with torch.cuda.graph(graph):
        doubled = values * 2
        assert not kernels.is_readable()
    assert kernels.is_readable() and not kernels.failed
    graph.replay()
    assert doubled.tolist() == [2.0] * 4
