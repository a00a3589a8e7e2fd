# The forms of import that teaching code uses.
import torch.nn.functional as F
from torch import nn
import torch.nn as also_nn
import copy, math, random
import numpy as np
import torch.optim as optim
from collections import OrderedDict, defaultdict
from torch.autograd import Variable, grad, Function
import torch
old = Variable(torch.ones(1), requires_grad=True)
print(F.relu(torch.tensor(-2.0)), nn is also_nn, math.floor(2.5), np.ones(2), type(old).__name__, optim.SGD.__name__)
