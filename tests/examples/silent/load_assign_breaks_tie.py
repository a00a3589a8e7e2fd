# parameter_detached at 17: embed
import torch
import torch.nn as nn

class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4, 2)
        self.proj = nn.Linear(2, 4, bias=False)
        self.proj.weight = self.embed.weight

    def forward(self, ids):
        return self.proj(self.embed(ids))

src, dst = LM(), LM()
optimizer = torch.optim.SGD(dst.parameters(), lr=0.1)
dst.load_state_dict(src.state_dict(), assign=True)
for _ in range(2):
    optimizer.zero_grad()
    dst(torch.tensor([1, 2])).sum().backward()
    optimizer.step()
print(dst.embed.weight is dst.proj.weight)
