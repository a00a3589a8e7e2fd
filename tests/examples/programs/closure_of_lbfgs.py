# LBFGS calls the closure that it is given several times.
import torch
w = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.LBFGS([w])
calls = 0
def closure():
    global calls
    calls += 1
    opt.zero_grad()
    loss = ((w - 2) ** 2).sum()
    loss.backward()
    return loss
opt.step(closure)
print(w.round(decimals=4), calls > 1)
