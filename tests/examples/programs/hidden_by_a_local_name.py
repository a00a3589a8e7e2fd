# A parameter and a comprehension hide module names; a class body has a scope of its own.
import torch
x = torch.zeros(1)
def f(x, y=2):
    x = x + y
    return x
class Scope:
    x = 4
    doubled = x * 2
    all = [n for n in range(2)]
print(f(torch.ones(1)), [x for x in range(2)], x, Scope.doubled, Scope.all)
