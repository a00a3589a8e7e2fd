# A hook stops the first backward; what came before it has arrived.
import torch
a = torch.ones(1, requires_grad=True)
b = torch.ones(1, requires_grad=True)
late = a * 2
def stop(grad):
    raise StopIteration("enough")
late.register_hook(stop)
try:
    (late + b * 4).backward()
except StopIteration as error:
    print("stopped", error)
print(a.grad, b.grad)
