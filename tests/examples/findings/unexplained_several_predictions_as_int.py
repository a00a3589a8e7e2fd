# unexplained_error: predicted argmax
import torch
logits, labels = torch.randn(5, 3), torch.tensor([0, 1, 2, 0, 1])
hits = {0: 0, 1: 0, 2: 0}
predicted = logits.argmax(1)
if int(predicted) == labels[0]:  # cause
    hits[0] += 1
