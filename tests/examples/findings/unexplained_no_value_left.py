# unexplained_error: kept
import torch
scores = torch.tensor([0.2, 0.3])
kept = scores[scores > 0.5]
best = kept.item()  # cause
