# An in-place write after each of five operations, and whether backward minds.
import torch
for name in ("exp", "sqrt", "relu", "neg", "square"):
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    y = getattr(x, name)()
    y.add_(1)
    try:
        y.sum().backward()
        print(name, "fine", x.grad)
    except RuntimeError as error:
        print(name, "raises", type(error).__name__)
