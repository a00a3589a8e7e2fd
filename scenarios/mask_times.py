import torch

p = torch.tensor([0.0, 1.0])
mask = torch.tensor([0.0, 1.0])

logs = p.log()
masked = mask * logs
print(logs)
print(masked)

chosen = torch.where(mask > 0, logs, 0.0)
print(chosen)
zero_wins = masked[0].item() == 0.0
