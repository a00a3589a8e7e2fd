import torch
from torch import nn

layer = nn.Linear(2, 1, bias=False)
layer.load_state_dict({"weight": torch.tensor([[1.0, 2.0]])})
backup = layer.state_dict()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)

layer(torch.tensor([4.0, 2.0])).backward()
optimizer.step()

print(backup["weight"])
unchanged = backup["weight"].tolist() == [[1.0, 2.0]]
