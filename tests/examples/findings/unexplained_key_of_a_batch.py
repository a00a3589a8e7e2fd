# unexplained_error: counts KeyError dict
import torch
batch = [torch.ones(2)]
counts = {"a": 1}
batch[0] = counts["b"]  # cause
