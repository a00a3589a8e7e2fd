# nonfinite at 9: labels, -1, ignore_index
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 3)
inputs = torch.randn(5, 4)
for step in range(2):
    labels = torch.full((5,), -1) if step else torch.tensor([0, 1, 2, -1, 0])
    loss = torch.nn.functional.cross_entropy(model(inputs).view(-1, 3), labels.view(-1), ignore_index=-1)
    loss.backward()
print(loss)
