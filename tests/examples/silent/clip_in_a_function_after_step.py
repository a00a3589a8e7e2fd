# clip_after_step at 7: clip_grad_norm_
import torch
from torch import nn
def update(model, optimizer, loss):
    loss.backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.zero_grad(set_to_none=False)
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(3):
    update(model, optimizer, (model(torch.randn(4, 3) * 5) - 9).pow(2).mean())
