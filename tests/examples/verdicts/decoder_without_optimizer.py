import torch
from torch import nn

torch.manual_seed(0)
encoder_of_the_whole_sequence_of_token_ids = nn.Linear(2, 2)
decoder_with_attention_over_all_positions = nn.Linear(2, 1)
optimizer = torch.optim.SGD(encoder_of_the_whole_sequence_of_token_ids.parameters(), lr=0.1)
x = torch.tensor([[1.0, 2.0]])
for _ in range(2):
    loss = decoder_with_attention_over_all_positions(encoder_of_the_whole_sequence_of_token_ids(x)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
