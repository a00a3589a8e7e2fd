import dataclasses
import json

import torch
from settings import Settings

torch.manual_seed(0)

settings = Settings(width=3)
print(json.dumps(dataclasses.asdict(settings)), settings)
layer = settings.layer()
print(layer.weight.shape)
