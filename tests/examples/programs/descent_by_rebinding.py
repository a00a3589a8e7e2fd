# w = w - step makes a non-leaf, so its .grad stays None.
import torch
w = torch.tensor([4.0], requires_grad=True)
for turn in range(2):
    loss = (w * w).sum()
    loss.backward()
    print(turn, w.grad, w.is_leaf)
    w = w - 0.25 * w.grad if w.grad is not None else w
