import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)

with torch.autograd.set_detect_anomaly(True):
    root = (x * x).sqrt()
    loss = root.sum()
    print(loss)
    loss.backward()
