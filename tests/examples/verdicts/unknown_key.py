import torch

batch = {"inputs": torch.tensor([1.0, 2.0]), "labels": torch.tensor([0, 1])}
scores = batch["inputs"] * 2
print(scores + batch["targets"])
