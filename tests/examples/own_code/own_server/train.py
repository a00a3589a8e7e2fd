import importlib

import server
import torch
import utils
from server.wire import trace

print(server.WHOSE, trace.WHOSE, utils.double(torch.ones(2)))
print(importlib.import_module("server.wire").__file__.endswith("own_server/server/wire/__init__.py") or server.__name__)
