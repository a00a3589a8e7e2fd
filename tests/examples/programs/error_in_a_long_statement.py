# A statement over many lines; the error belongs to one of them.
import torch
table = {
    "fits": torch.ones(2) + 1,
    "does not": torch.ones(2)
    + torch.ones(3),
    "never": 0,
}
