# tensors that are returned where a mode or a loop is left
import torch
def f(x):
    with torch.no_grad():
        return x * 2
y = f(torch.ones(2))
print(y)
def nested(x):
    for k in range(3):
        with torch.no_grad():
            try:
                return x * k
            finally:
                k = 5
y = nested(3)
