# The nodes that ran before the failure have freed what they saved: the second try fails elsewhere.
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
z = y * y
top = z * z
y.mul_(1)
for turn in range(2):
    try:
        top.sum().backward()
    except RuntimeError as error:
        print(turn, "inplace" in str(error), "second time" in str(error), x.grad)
