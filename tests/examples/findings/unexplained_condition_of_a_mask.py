# unexplained_error: over .any()
import torch
scores = torch.tensor([0.2, 0.7])
over = scores > 0.5
if over:  # cause
    print("over")
