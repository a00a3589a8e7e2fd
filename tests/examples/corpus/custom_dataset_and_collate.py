"""A Dataset of one's own, padding in collate_fn, samplers, random_split and packed sequences."""
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, SubsetRandomSampler, WeightedRandomSampler, random_split


class SequenceDataset(Dataset):
    def __init__(self, n, transform=None):
        g = torch.Generator().manual_seed(0)
        self.sequences = [torch.randint(1, 9, (int(torch.randint(2, 6, (1,), generator=g)),), generator=g) for _ in range(n)]
        self.labels = torch.tensor([int(s.sum()) % 2 for s in self.sequences])
        self.transform = transform

    def __len__(self):
        return len(self.sequences)

    def __getitem__(self, idx):
        sequence = self.sequences[idx]
        if self.transform:
            sequence = self.transform(sequence)
        return sequence, self.labels[idx]


def collate_batch(batch):
    batch.sort(key=lambda pair: len(pair[0]), reverse=True)
    sequences, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in sequences])
    return pad_sequence(sequences, batch_first=True), lengths, torch.stack(labels)


dataset = SequenceDataset(10, transform=lambda s: s + 1)
train, valid = random_split(dataset, [8, 2], generator=torch.Generator().manual_seed(42))
print(len(train), len(valid), train.indices)
loader = DataLoader(train, batch_size=4, shuffle=True, collate_fn=collate_batch, generator=torch.Generator().manual_seed(1), drop_last=True)
embedding, gru = torch.nn.Embedding(12, 4), torch.nn.GRU(4, 3, batch_first=True)
for padded, lengths, labels in loader:
    packed = pack_padded_sequence(embedding(padded), lengths, batch_first=True)
    out, h = gru(packed)
    unpacked, sizes = pad_packed_sequence(out, batch_first=True)
    print(padded.shape, lengths.tolist(), labels.tolist(), unpacked.shape, h.shape, packed.batch_sizes.tolist())
sampler = WeightedRandomSampler([0.9 if y else 0.1 for y in dataset.labels], num_samples=4, generator=torch.Generator().manual_seed(2))
print([int(i) for i in sampler])
subset = DataLoader(dataset, batch_size=None, sampler=SubsetRandomSampler([1, 3], generator=torch.Generator().manual_seed(3)))
for sequence, label in subset:
    print(sequence.tolist(), label.item())
