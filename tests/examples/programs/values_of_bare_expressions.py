# Expressions that stand alone, as in an interpreter: their values are nobody's.
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
x
x * 2
x.sum().item()
"text"
None
(x * x).sum().backward()
x.grad
