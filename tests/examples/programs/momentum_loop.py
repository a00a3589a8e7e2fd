# SGD with momentum by hand-sized steps; the buffer lives in the optimizer's state.
import torch
w = torch.tensor([4.0, 2.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.25, momentum=0.5)
for epoch in range(3):
    opt.zero_grad()
    loss = (w ** 2).sum()
    loss.backward()
    opt.step()
    print(epoch, loss.item(), w.data.tolist())
print(opt.param_groups[0]["lr"], opt.state[w]["momentum_buffer"])
