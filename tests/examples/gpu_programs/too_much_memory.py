import torch
small = torch.ones(10, device="cuda")
large = torch.empty(1 << 44, dtype=torch.uint8, device="cuda")
