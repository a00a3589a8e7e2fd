# Star arguments, keyword dictionaries, keyword-only and positional-only parameters.
import torch
def spread(first, /, *rest, flag=False, **named):
    return first, rest, flag, named
sizes = [2, 1]
print(spread(*sizes, 3, flag=True, **{"x": 1}), torch.zeros(*sizes).shape)
print(*sizes, *"ab", sep="|")
print([*sizes, *range(2)], {**{"a": 1}, "b": 2})
