"""Timing: timeit, torch.utils.benchmark, warm-up, without printing times."""
import time
import timeit

import torch
import torch.utils.benchmark as benchmark


def batched_dot_mul_sum(a, b):
    """Computes batched dot by multiplying and summing"""
    return a.mul(b).sum(-1)


def batched_dot_bmm(a, b):
    """Computes batched dot by reducing to bmm"""
    a = a.reshape(-1, 1, a.shape[-1])
    b = b.reshape(-1, b.shape[-1], 1)
    return torch.bmm(a, b).flatten(-3)


x = torch.randn(20, 8)
assert batched_dot_mul_sum(x, x).allclose(batched_dot_bmm(x, x), atol=1e-5)
t0 = timeit.Timer(stmt="batched_dot_mul_sum(x, x)", globals={"x": x, "batched_dot_mul_sum": batched_dot_mul_sum})
print(t0.timeit(3) > 0)
t1 = benchmark.Timer(stmt="f(x, x)", globals={"x": x, "f": batched_dot_bmm}, num_threads=1, label="dot")
m = t1.timeit(2)
print(type(m).__name__, m.mean > 0, m.task_spec.label)
start = time.perf_counter()
for _ in range(3):
    batched_dot_bmm(x, x)
print(time.perf_counter() - start > 0)
