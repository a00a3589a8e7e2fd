import torch

x = torch.ones(1)
raise SystemExit("no data: " + str(x))
