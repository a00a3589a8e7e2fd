# Two steps of five optimizers, one after the other.
import torch
for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad):
    w = torch.tensor([2.0, 4.0], requires_grad=True)
    opt = kind([w], lr=0.125)
    for _ in range(2):
        opt.zero_grad()
        (w * w).sum().backward()
        opt.step()
    print(kind.__name__, w.round(decimals=3), w._version)
