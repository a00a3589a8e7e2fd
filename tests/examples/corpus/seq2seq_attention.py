"""Translation with a GRU encoder and a decoder with additive attention."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

SOS, EOS = 0, 1
pairs = [([2, 3, 4, EOS], [5, 6, EOS]), ([3, 4, EOS], [6, 7, EOS]), ([2, 4, EOS], [5, 7, EOS])]


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)

    def forward(self, input):
        return self.gru(self.embedding(input))


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, encoder_outputs, encoder_hidden, target):
        decoder_input = torch.full((1, 1), SOS, dtype=torch.long)
        decoder_hidden = encoder_hidden
        outputs, attentions = [], []
        for i in range(target.size(1)):
            embedded = self.embedding(decoder_input)
            query = decoder_hidden.permute(1, 0, 2)
            context, attn = self.attention(query, encoder_outputs)
            output, decoder_hidden = self.gru(torch.cat((embedded, context), dim=2), decoder_hidden)
            outputs.append(self.out(output))
            attentions.append(attn)
            decoder_input = target[:, i].unsqueeze(1) if random.random() < 0.5 else outputs[-1].argmax(-1).detach()
        return F.log_softmax(torch.cat(outputs, dim=1), dim=-1), torch.cat(attentions, dim=1)


torch.manual_seed(0)
random.seed(0)
encoder, decoder = EncoderRNN(8, 6), AttnDecoderRNN(6, 8)
encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=0.01)
criterion = nn.NLLLoss()
for epoch in range(2):
    total_loss = 0
    for source, target in pairs:
        input_tensor, target_tensor = torch.tensor([source]), torch.tensor([target])
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        encoder_outputs, encoder_hidden = encoder(input_tensor)
        decoder_outputs, attentions = decoder(encoder_outputs, encoder_hidden, target_tensor)
        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        total_loss += loss.item()
    print(f"epoch {epoch}: {total_loss / len(pairs):.4f}", attentions.shape)
