"""The page in a real browser while programs run: waiting, stopping, running again, and a server that is gone."""

import json
from typing import Any

from tests.support.page_driver import at_step, hold, leave, let_go, paste, press_run, run


def test_fast_clicks_and_a_second_run_end_in_the_last_program(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import time\nfor k in range(30):\n    time.sleep(0.05)\n")
    page.keyboard.press("Control+Enter")
    paste(page, "import torch\nlast = torch.full((2,), 7.)\n")
    for _ in range(5):
        page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.querySelector('#workbench').dataset.steps === '2'")
    page.wait_for_timeout(2500)  # the first one would have ended by now
    assert page.locator("#workbench").get_attribute("data-steps") == "2"
    leave(page)
    for key in ("Home", "End") * 20:
        page.keyboard.press(key)
    at_step(page, 1)
    assert page.locator('#stage [data-name="last"]').count() == 1


def test_a_lost_server_is_reported_and_the_program_kept(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "x = 1  # precious\n")
    page.route("**/runs", lambda route: route.abort())
    page.keyboard.press("Control+Enter")
    page.locator("#problem:not([hidden])").wait_for()
    assert "precious" in page.locator(".cm-content").inner_text()
    page.unroute("**/runs")
    run(page)
    assert page.locator("#problem").is_hidden()


def test_a_changed_program_is_not_held_against_the_old_picture(page: Any, site: str) -> None:
    page.goto(site)
    text = "import torch\na = torch.ones(2)\na += 1\n"
    paste(page, text)
    run(page)
    assert page.locator("#edited").is_hidden() and page.locator(".cm-now").count() == 1
    paste(page, f"b = 0\n{text}")
    assert page.locator("#edited").is_visible()
    leave(page)
    for key in ("Home", "ArrowRight", "End"):
        page.keyboard.press(key)
        assert page.locator(".cm-now").count() == 0
    page.wait_for_function("() => location.hash.startsWith('#p=') && !location.hash.includes('&i=')")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    page.locator("#edited").wait_for(state="hidden")
    assert page.locator(".cm-now").count() == 1


def test_what_is_typed_while_a_program_runs_is_kept(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import time\ntime.sleep(0.1)\n")
    held = hold(page, "**/runs")
    page.keyboard.press("Control+Enter")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("# more")
    let_go(page, "**/runs", held)
    page.wait_for_function("() => document.querySelector('#workbench').dataset.steps === '2'")
    assert "# more" in page.locator(".cm-content").inner_text()
    assert page.locator("#edited").is_visible()


def test_an_iteration_that_was_left_out_is_opened(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "n = 0\nfor i in range(3000):\n    n += i\nprint(n)\n")
    first = run(page)
    page.locator("[data-go=last]").click()
    gap = next(step for step in reversed(first["steps"]) if "skipped" in step)
    while page.locator("#workbench").get_attribute("data-step") != str(gap["i"]):
        page.locator("[data-go=previous]").click()
    assert str(gap["skipped"]) in page.locator("#unseen-text").text_content()
    turn = int(page.locator("#unseen-at").get_attribute("min")) + 3
    page.fill("#unseen-at", str(turn))
    with page.expect_response("**/runs") as answer:
        page.keyboard.press("Enter")
    assert json.loads(answer.value.request.post_data)["focus"] == {"loop": 1, "iteration": [turn]}
    page.wait_for_selector(f"#where:has-text('[{turn}]')")
    assert page.locator("#problem").is_hidden()


def test_a_program_that_goes_another_way_says_so(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import time\nfor i in range(3000):\n    n = i\nprint(time.time_ns())\n")
    first = run(page)
    gap = next(step for step in first["steps"] if "skipped" in step)
    page.locator("#slider").fill(str(gap["i"]))
    page.locator("#unseen button").click()
    page.wait_for_selector("#problem:not([hidden])")
    assert "not repeatable" in page.locator("#problem").text_content()


def stop(page: Any) -> None:
    """Press the button for it. What comes sooner would be the second half of a double click on Run, and stop
    nothing."""
    page.wait_for_timeout(600)  # the time of a double click is over
    page.locator("#stop").click()


def endless(page: Any, site: str, number: int) -> None:
    """A page whose program runs, or waits for its turn."""
    page.goto(site)
    paste(page, f"import torch\nimport time\nx = torch.ones({number})\ntime.sleep(6000)\n")
    with page.expect_response("**/events"):  # the server has answered with the run's id
        page.keyboard.press("Control+Enter")


def test_a_run_is_stopped_and_keeps_what_was_recorded(page: Any, site: str) -> None:
    for pause in (0, 1000, 10_000, 60_000):
        endless(page, site, 3)
        page.wait_for_timeout(pause)  # the program comes to its last line, which nobody outside of it sees
        stop(page)
        page.locator("#outcome", has_text="stopped this run").wait_for()
        if page.locator("#workbench").get_attribute("data-steps") == "3":
            break
    assert page.locator("#workbench").get_attribute("data-steps") == "3"
    assert "stopped this run" in page.locator("#outcome").inner_text()
    assert page.locator("#stop").is_hidden() and page.locator("#progress").is_hidden()
    assert page.locator('#stage [data-name="x"]').count() == 1


def test_a_run_is_stopped_before_anything_came_of_it(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import time\ntime.sleep(6000)  # 4\n")
    hold(page, "**/runs")
    page.keyboard.press("Control+Enter")
    stop(page)
    page.locator("#stop").wait_for(state="hidden")
    assert page.locator("#problem").is_hidden() and page.locator("#stop").is_hidden()


def test_a_waiting_page_shows_its_place_and_a_closed_tab_frees_one(page: Any, site: str) -> None:
    others = [page.context.new_page() for _ in range(3)]
    for number, other in enumerate(others):
        endless(other, site, 10 + number)
    word = others[2].locator("#run-word")
    page.goto(site)
    endless(page, site, 20)
    page.wait_for_function("() => document.querySelector('#run-word').textContent === 'Waiting, 1 ahead…'")
    assert word.inner_text() == "Next in line…"
    others[0].close()
    others[1].close()
    page.wait_for_function("() => document.querySelector('#run-word').textContent === 'Running…'")
    assert word.inner_text() == "Running…"
    others[2].close()
    stop(page)
    page.locator("#stop").wait_for(state="hidden")


def test_the_run_button_becomes_stop_and_a_double_click_does_not_stop_the_run(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import time\ntime.sleep(6000)  # 31\n")
    button, stop = page.locator("#run-button"), page.locator("#stop")
    box = button.bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    stop.wait_for()
    assert stop.bounding_box() == box and button.is_hidden()
    page.wait_for_timeout(600)  # a double click is over
    assert stop.is_visible() and page.locator("#saving").is_hidden()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    stop.wait_for(state="hidden")
    assert button.bounding_box() == box


def test_during_a_run_the_earlier_picture_is_pale_and_marked_as_old(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nprint(torch.ones(2))\n")
    run(page)
    paste(page, "import time\ntime.sleep(6000)  # 32\n")
    hold(page, "**/steps")
    page.keyboard.press("Control+Enter")
    page.locator("#progress").wait_for()
    assert page.locator("#run-before").inner_text() == "What you see is of the run before."
    for part in ("#stage", "#printed-box", "#sentences", "#where"):
        page.wait_for_function(f"() => getComputedStyle(document.querySelector('{part}')).opacity === '0.35'")
    assert page.locator("#stage").get_attribute("aria-busy") is not None
    stop(page)
    page.wait_for_function("() => getComputedStyle(document.querySelector('#stage')).opacity === '1'")
    assert page.locator("#progress").is_hidden()


LONG_TRAINING = """import time, torch
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
(w * w).sum().backward()
time.sleep(6000)  # 34
optimizer.step()
"""


def test_the_steps_of_a_run_are_shown_as_they_arrive(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nearlier = torch.ones(2)\n")
    run(page)
    paste(page, LONG_TRAINING)
    page.keyboard.press("Control+Enter")
    page.locator("#run-before", has_text="steps so far").wait_for()
    page.locator(".cm-now", has_text="backward").wait_for()
    assert (
        page.locator('#stage [data-name="w"]').count() == 1
        and page.locator('#stage [data-name="earlier"]').count() == 0
    )
    assert "of ?" in page.locator("#where").inner_text()
    assert page.evaluate("() => getComputedStyle(document.querySelector('#stage')).opacity") == "1"
    for unknown in ("#views", "#findings", "#outcome"):
        assert page.locator(unknown).is_hidden(), "nobody knows yet what the whole run comes to"
    assert page.locator("#takeaway").is_disabled()
    leave(page)
    page.keyboard.press("Home")
    at_step(page, 0)
    stop(page)
    page.locator("#outcome", has_text="stopped this run").wait_for()
    assert page.locator("#workbench").get_attribute("data-step") == "0", "who looks at a step stays there"
    assert page.locator("#views").is_visible() and page.locator("#takeaway").is_enabled()


def test_a_server_that_falls_silent_during_a_run_is_noticed_and_so_is_its_return(page: Any, site: str) -> None:
    endless(page, site, 33)
    page.route("**/healthz", lambda _: None)  # it never answers
    page.locator("#problem", has_text="The server does not answer. Your program is kept here").wait_for()
    page.unroute("**/healthz")
    page.locator("#problem", has_text="The server answers again.").wait_for()
    stop(page)
    page.locator("#stop").wait_for(state="hidden")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2000)  # it asked after 1.3 s
    assert not [url for url in asked if url.endswith("/healthz")], "nobody asks when nothing is awaited"


def test_the_page_lands_where_a_training_gets_its_first_gradient_and_after_a_fix_where_it_passes(
    page: Any, site: str
) -> None:
    page.goto(site)
    paste(
        page,
        "import torch\nlayer = torch.nn.Linear(2, 1)\nlayer(torch.ones(4, 2)).sum().backward()\nlr = 0.1\nprint(lr)\n",
    )
    trace = press_run(page)
    arrived = next(
        step["i"] for step in trace["steps"] if any(entry.get("event") == "grad_accumulated" for entry in step["log"])
    )
    at_step(page, arrived)
    paste(
        page,
        "import torch\nw = torch.ones(2, requires_grad=True)\ny = w.exp()\ny.add_(1)\ny.sum().backward()\nprint(1)\n",
    )
    run(page)
    page.locator(".fix-apply").first.click()
    page.wait_for_function("() => document.querySelector('#outcome').classList.contains('finished')")
    page.locator("#where", has_text="y.sum().backward()").wait_for()


KEEPS_A_GRAPH = """import torch
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
probe = (w * w).sum()
loss = (w * 3).sum()
loss.backward()
optimizer.step()
print(probe.item())
"""


def test_a_saved_value_that_no_backward_needs_is_no_alarm(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, KEEPS_A_GRAPH)
    trace = press_run(page)
    logged = [[entry.get("event") for entry in step["log"]] for step in trace["steps"]]
    arrived = next(i for i, events in enumerate(logged) if "grad_accumulated" in events)
    stale = next(i for i, events in enumerate(logged) if "saved_stale" in events)
    at_step(page, arrived)
    page.locator("#slider").fill(str(stale))
    at_step(page, stale)
    assert page.locator("#sentences li.bad").count() == 0
    page.locator("#findings", has_text="No error and no warning").wait_for()


def test_a_program_that_only_prints_opens_at_what_it_prints_last(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "for i in range(3):\n    print(i)\n")
    press_run(page)
    page.locator("#sentences", has_text="This line prints 2").wait_for()
