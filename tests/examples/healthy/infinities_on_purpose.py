import math

import torch

best = torch.full((3,), -math.inf)
best = torch.maximum(best, torch.tensor([1.0, -2.0, 3.0]))
missing = torch.tensor([1.0, float("nan"), 3.0])
print(best, missing.nanmean(), torch.isnan(missing), torch.nan_to_num(missing))
