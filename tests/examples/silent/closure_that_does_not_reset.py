# grad_accumulated at 11: w
import torch

torch.manual_seed(0)
w = torch.tensor([3.0, -2.0], requires_grad=True)
optimizer = torch.optim.LBFGS([w], max_iter=4)


def closure():
    loss = (w**2).sum()
    loss.backward()
    return loss


optimizer.step(closure)
print(w, w.grad)
