# A program that replaces the clocks of `time` is recorded like any other.
import time
import torch
time.perf_counter = time.process_time = time.time = time.monotonic = None
x = torch.ones(2)
x.add_(1)
time.perf_counter = lambda: 1.0
print(x, time.perf_counter())
