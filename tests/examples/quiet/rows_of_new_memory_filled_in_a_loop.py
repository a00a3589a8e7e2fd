import torch


def padded(sequences):
    out = torch.zeros(len(sequences), max(len(sequence) for sequence in sequences))
    for row, sequence in zip(out, sequences):
        row[: len(sequence)] = torch.tensor(sequence)
    return out


counts = torch.ones(2, 3)
for row in counts:
    row += torch.arange(3)
print(padded([[1.0, 2.0, 3.0], [4.0, 5.0]]).sum(1), counts)
