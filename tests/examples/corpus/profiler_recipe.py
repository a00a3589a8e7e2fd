"""The profiler: record_function, key_averages, a schedule."""
import torch
import torch.nn as nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
inputs = torch.randn(5, 8)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("model_inference"):
        model(inputs)
names = {event.key for event in prof.key_averages()}
print("model_inference" in names, "aten::linear" in names, "aten::relu" in names)
shapes = [event.input_shapes for event in prof.key_averages(group_by_input_shape=True) if event.key == "aten::addmm"]
print(len(shapes))
handled = []


def trace_handler(p):
    handled.append(p.step_num)


with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=trace_handler) as p:
    for idx in range(8):
        model(inputs).sum().backward()
        p.step()
print(handled)
print(model[0].weight.grad.shape)
with torch.autograd.profiler.profile() as old:
    torch.matmul(torch.ones(3, 3), torch.ones(3, 3))
print(any(e.name == "aten::matmul" for e in old.function_events))
