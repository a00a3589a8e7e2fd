import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * x
y.backward()
try:
    y.backward()
except RuntimeError as error:
    print(type(error).__name__)
