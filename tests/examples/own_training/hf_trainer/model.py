import torch
import transformers


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = transformers.GPT2Model(
            transformers.GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=1)
        )
        self.head = torch.nn.Linear(8, 1)
        self.losses = []

    def forward(self, input_ids, labels=None):
        hidden = self.body(input_ids).last_hidden_state.mean(1)
        score = self.head(hidden).squeeze(1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(score, labels)
        self.losses.append(round(loss.item(), 4))
        return {"loss": loss, "logits": score}  # mistake no_graph: return {"loss": loss.detach(), "logits": score}
