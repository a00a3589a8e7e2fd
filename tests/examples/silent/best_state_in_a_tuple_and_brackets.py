# same_module at 11: best_state, 模型
import torch
from torch import nn
模型 = nn.Linear(2, 1)
优化器 = torch.optim.SGD(模型.parameters(), lr=0.1)
old_模型 = (模型)
best = 1e9
for epoch in range(3):
    loss = 模型(torch.ones(4, 2)).pow(2).mean()
    优化器.zero_grad(); loss.backward(); 优化器.step()
    if loss.item() < best: best, best_state = loss.item(), (模型
        .state_dict())
模型.load_state_dict(
    best_state)
print(old_模型.weight)
