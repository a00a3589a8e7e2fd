"""In a real browser: every text of the picture can be read, at every width."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.page_driver import at_step, leave, paste, run
from tests.support.sampling import in_turn

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SHOWN = "#headline, #stage, #net, #timeline, #findings"
"""The loom by storage, which shows every number of a run under heads that stay, is not among them."""
ROOMS = {"desk": (1440, 900), "laptop": (1280, 720), "half": (900, 1000), "phone": (390, 844), "enlarged": (720, 450)}
FAULTS = (Path(__file__).parent / "drawn_texts.js").read_text()
MAX_STEPS = 8
LONG_NAMES = """\
import torch
from torch import nn
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attention_output_projection = nn.Linear(6, 6)
        self.position_wise_feed_forward_network = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6))
    def forward(self, hidden_states_of_the_layer):
        projected = self.self_attention_output_projection(hidden_states_of_the_layer)
        return hidden_states_of_the_layer + self.position_wise_feed_forward_network(projected)
encoder_decoder_model = nn.ModuleDict({"transformer_encoder": nn.Sequential(*[Encoder() for _ in range(3)])})
optimizer = torch.optim.AdamW(encoder_decoder_model.parameters(), lr=0.0123456789)
batches = zip(torch.randn(4, 5, 6), torch.randn(4, 5, 6), strict=True)
for iteration, (inputs_of_the_batch, targets_of_the_batch) in enumerate(batches):
    optimizer.zero_grad(set_to_none=True)
    predicted = encoder_decoder_model["transformer_encoder"](inputs_of_the_batch)
    nn.functional.mse_loss(predicted, targets_of_the_batch.detach() * 1000000).backward()
    optimizer.step()
"""
RAISES = LONG_NAMES.replace("    optimizer.step()", "    predicted.sum().backward()")
NETS = [(ROOT / f"tests/examples/nets/{name}.py").read_text() for name in ("gan", "unet", "seq2seq_attention", "dqn")]
SMALL = [(ROOT / f"scenarios/{name}.py").read_text() for name in ("saved_inplace", "view")]
PROGRAMS = [LONG_NAMES, RAISES, *NETS, *SMALL]

LAST_FAULTS = """async ([shown, frames]) => {
    const faults = FAULTS;
    let found = [];
    for (let frame = 0; frame < frames; frame++) {
        await new Promise(drawn => requestAnimationFrame(drawn));
        if (frame < 6) continue;
        found = faults(shown);
        if (found.length === 0) break;
    }
    return found;
}""".replace("FAULTS", f"({FAULTS.strip()})")
FRAMES = 40


def faults(page: Any) -> list[dict[str, Any]]:
    """Of the picture when it has been drawn: those that are still there after many frames."""
    found: list[dict[str, Any]] = page.evaluate(LAST_FAULTS, [SHOWN, FRAMES])
    return found


@pytest.mark.parametrize(("program", "room"), in_turn(range(len(PROGRAMS)), [*ROOMS]))
def test_texts_are_whole_apart_and_large_enough(program: int, room: str, page: Any, site: str) -> None:
    page.emulate_media(reduced_motion="reduce")  # a row on its way lies over others
    page.goto(site)
    page.wait_for_selector("#workbench[data-step]")
    page.set_viewport_size(dict(zip(("width", "height"), ROOMS["desk"], strict=True)))
    paste(page, PROGRAMS[program])
    count = len(run(page)["steps"])
    leave(page)
    page.set_viewport_size(dict(zip(("width", "height"), ROOMS[room], strict=True)))
    found = {"as it opens": faults(page)}
    page.locator('#views [data-view="run"]').click()
    found["the whole run"] = faults(page)
    page.locator('#views [data-view="step"]').click()
    for step in sorted({round(k * (count - 1) / (MAX_STEPS - 1)) for k in range(MAX_STEPS)}):
        page.locator("#slider").fill(str(step))
        at_step(page, step)
        found[f"step {step}"] = faults(page)
    told = [f"{where}: {fault}" for where, which in found.items() for fault in which]
    assert not told, "\n".join(told)


def test_a_text_that_is_cut_or_covered_is_found(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_selector("#workbench[data-step]")
    assert faults(page) == []
    page.evaluate(
        """() => {
            const stage = document.querySelector("#stage");
            const add = (text, style) => {
                const part = document.createElement("div");
                part.textContent = text;
                part.style.cssText = `position: absolute; z-index: 9; white-space: nowrap; ${style}`;
                stage.append(part);
            };
            stage.style.position = "relative";
            add("one text", "left: 40px; top: 40px; font-size: 16px");
            add("upon another", "left: 60px; top: 42px; font-size: 16px");
            add("tiny", "left: 40px; top: 90px; font-size: 9px");
            add("a text that has no room", "left: 40px; top: 130px; width: 60px; overflow: hidden; font-size: 14px");
        }"""
    )
    assert {fault["kind"] for fault in faults(page)} == {"upon", "small", "cut"}
