# A for loop that unpacks nested tuples, with an else.
import torch
pairs = zip([1, 2], torch.tensor([4.0, 8.0]))
for place, (count, value) in enumerate(pairs):
    print(place, count, value)
else:
    print("no break")
