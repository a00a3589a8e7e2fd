# integer_wrapped at 7: after, before
import torch

torch.manual_seed(0)
before = torch.randint(0, 256, (2, 4, 4), dtype=torch.uint8)
after = torch.randint(0, 256, (2, 4, 4), dtype=torch.uint8)
motion = (after - before).float().abs().mean()
print(motion)
