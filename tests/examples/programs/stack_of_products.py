# A list of results stacked; a profiler around one operation.
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
parts = [x * k for k in range(3)]
torch.stack(parts).sum().backward()
print(x.grad, len(parts))
with torch.autograd.profiler.profile() as seen:
    x * 2
print(len(seen.function_events) > 0)
