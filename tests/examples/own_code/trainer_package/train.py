import pickle
import sys

import torch

from lab import Corpus, Net, Trainer
from lab.model import Settings, Wide

torch.manual_seed(0)
model = Wide(Settings(depth=3))
trainer = Trainer(model, Corpus(), rounds=7, on_round=lambda t, k: print(k, f"{t.history[-1]:.4f}", file=sys.stderr))
print("lines", trainer.run(), "size", model.size, Net.registry)
again = pickle.loads(pickle.dumps(model))
print(f"{again.norm():.4f}", type(again).__module__, type(again).forward.__code__.co_name)
