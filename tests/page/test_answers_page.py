"""What the page answers where a program can't be run as it is, in a real browser: packages that are not here, and CUDA;
and the finding that goes to the clipboard as a picture with text."""

import re
from typing import Any

import pytest

from tests.support.page_driver import STALE, leave, paste, press_run, use

TABLE = """\
import torch
import pandas as pd
table = pd.read_csv("houses.csv")
x = torch.tensor(table.values, requires_grad=True)
x.sum().backward()
"""
HUB = """\
import torch
from transformers import AutoModel, AutoTokenizer
import pandas as pd
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased")
"""
ON_CUDA = """\
import torch
device = "cuda"
x = torch.ones(3, requires_grad=True).cuda()
w = torch.ones(3, device=device, requires_grad=True)
(x * w).sum().backward()
print(w.grad)
"""


def open_with(page: Any, site: str, text: str) -> None:
    """The page with a text in its editor."""
    page.goto(site)
    page.wait_for_selector("#workbench[data-step]")
    paste(page, text)


def test_packages_that_are_not_here_are_named_with_the_lines_that_need_them(page: Any, site: str) -> None:
    open_with(page, site, HUB)
    assert press_run(page)["outcome"]["status"] == "refused"
    panel = page.locator("#empty .first-answer")
    panel.wait_for()
    assert panel.locator("h2").inner_text() == "This server does not offer transformers and pandas."
    rows = panel.locator("pre").all_inner_texts()
    assert [re.findall(r"^ +(\d+)  ", rows[0], re.M), "from_pretrained" in rows[0]] == [["2", "4", "5"], True]
    assert rows[1].split() == ["3", "import", "pandas", "as", "pd"]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.locator(".own-command button").click()
    panel.locator(".own-command button", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "gradbox open train.py"


def test_what_can_stand_in_for_a_package_is_one_click_away(page: Any, site: str) -> None:
    open_with(page, site, TABLE)
    press_run(page)
    button = page.locator("#empty .first-answer button.primary", has_text="Use random numbers")
    button.wait_for()
    button.click()
    page.wait_for_selector("#workbench[data-step]:not([data-steps='0'])")
    page.wait_for_function("() => document.querySelector('#empty').hidden")
    assert "np.random.randn(4, 4)" in "\n".join(page.locator(".cm-line").all_inner_texts())


def test_a_program_for_cuda_runs_on_the_cpu_and_one_click_leads_back(page: Any, site: str) -> None:
    open_with(page, site, ON_CUDA)
    press_run(page)
    notice = page.locator("#on-cpu:not([hidden])")
    notice.locator("summary").wait_for()
    page.wait_for_function("() => document.querySelector('#outcome').classList.contains('finished')")
    assert page.locator("#printed").inner_text().strip() == "tensor([1., 1., 1.])"
    assert "There is no GPU here" in notice.inner_text() and "2 lines were changed: 2, 3" in notice.inner_text()
    notice.locator("summary").click()
    assert '2  device = "cuda"' in notice.locator("dt").first.inner_text()
    assert notice.locator("dd").first.inner_text().strip() == 'device = "cpu"'
    notice.locator("button").click()
    page.wait_for_function("() => document.querySelector('#outcome').classList.contains('raised')")
    assert "\n".join(page.locator(".cm-line").all_inner_texts()).strip() == ON_CUDA.strip()
    assert page.locator("#on-cpu").is_hidden()
    leave(page)
    press_run(page)
    page.wait_for_function("() => document.querySelector('#outcome').classList.contains('raised')")
    assert page.locator("#on-cpu").is_hidden(), "its reader wanted it as it is"


@pytest.mark.parametrize("has_clipboard_item", [True, False])
def test_a_finding_goes_to_the_clipboard_as_a_picture_with_text(page: Any, site: str, has_clipboard_item: bool) -> None:
    open_with(page, site, STALE)
    press_run(page)
    page.wait_for_selector("#findings:not([hidden])")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    if not has_clipboard_item:
        page.evaluate("delete window.ClipboardItem")
    leave(page)
    use(page, "#takeaway").click()
    if has_clipboard_item:
        page.locator("[data-verdict=text]").click()
    else:
        with page.expect_download() as saved:
            page.locator("[data-verdict=text]").click()
        assert saved.value.suggested_filename.endswith(".png")
    page.wait_for_function("() => /Copied/.test(document.querySelector('#where').textContent)")
    text = page.evaluate("navigator.clipboard.readText()")
    lines = STALE.splitlines()
    assert text.startswith("**") and f"    4  {lines[3]}" in text and f"    6  {lines[5]}" in text
    if not has_clipboard_item:
        return
    sizes = page.evaluate(
        """async () => {
            const [item] = await navigator.clipboard.read();
            const png = await item.getType("image/png");
            const picture = await createImageBitmap(png);
            const html = await (await item.getType("text/html")).text();
            return [item.types.length, picture.width, picture.height, html];
        }"""
    )
    assert sizes[0] == 3 and sizes[1] >= 1200 and sizes[2] >= 600
    assert "y.add_(1)" in sizes[3] and "<img" not in sizes[3], "an unsaved run has no address for its picture"


def test_the_gallery_says_first_that_no_program_ends_with_an_error(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    page.locator("#gallery-q").fill("RuntimeError: zorgon flux of the quux exceeded its limit")
    notice = page.locator("#gallery-notice")
    notice.filter(has_text="No program here ends with this error").wait_for()
    assert page.locator(".gallery li").count() <= 3
    page.locator("#gallery-q").fill("RuntimeError: grad can be implicitly created only for scalar outputs")
    page.locator("#gallery-found[data-query*=scalar] li[data-name=scalar_outputs]").wait_for()
    assert notice.inner_text() == ""


def test_a_pasted_traceback_leads_to_the_programs_that_end_with_it(page: Any, site: str) -> None:
    error = "RuntimeError: grad can be implicitly created only for scalar outputs"
    open_with(page, site, f'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n{error}\n')
    press_run(page)
    panel = page.locator("#empty .first-answer")
    panel.locator("p", has_text="end with this message").wait_for()
    assert "/?s=scalar_outputs" in panel.locator("ol a").first.get_attribute("href")
    assert page.locator("#error-found").count() == page.locator("#error-hits").count() == 1
