import assert from "node:assert/strict";
import { test } from "node:test";
import { stateFragment } from "../../page/address.ts";
import { initialState, reduce } from "../../page_state/page_state.ts";
import { wasTraceMadeWith, normalizeSettings, settingsFragment } from "../../page_state/settings.ts";
import * as url from "../../page_state/url.ts";
import type { Action } from "../../page_state/actions.ts";

const PAGE = { source: "a = 1", trace: null, saved: null, devices: ["cpu", "cuda"] };

test("a program comes back from its fragment, with step, focus and settings", async () => {
  const source = "print('中')\n".repeat(200);
  const focus = { loop: 1, iteration: [3] };
  const fragment =
    (await url.programFragment(source, 4)) +
    settingsFragment({ seed: 7, device: "cuda", input: "3\n名 &=" }) +
    url.focusFragment(focus) +
    url.selectionFragment("slot:n1:result[0]") +
    url.viewFragment("run") +
    url.predictFragment(true);
  assert.deepEqual(await url.readAddress(fragment), {
    source,
    step: 4,
    seed: "7",
    device: "cuda",
    input: "3\n名 &=",
    focus,
    selection: "slot:n1:result[0]",
    view: "run",
    predict: true,
    broken: false,
  });
});

test("an address asks to predict in its fragment or its query, and can be told not to", () => {
  assert.deepEqual([url.readPosition("#i=2&predict=1").predict, url.readPosition("#i=2").predict], [true, false]);
  assert.deepEqual(
    [url.isPredictModeRequested("?s=clone&predict=1"), url.isPredictModeRequested("?s=clone")],
    [true, false],
  );
  assert.equal(url.queryWithoutPredict("?s=clone&predict=1"), "?s=clone");
  assert.equal(url.queryWithoutPredict("?predict=1"), "");
  assert.equal(url.queryWithoutPredict("?q=a b"), "?q=a b", "what is not asked for is not written anew");
});

test("a damaged program is broken, other nonsense is passed over", async () => {
  const broken = await url.readAddress("#p=!!!&i=3");
  assert.ok(broken.broken && broken.source === null && broken.step === null);
  const odd = await url.readAddress("#i=-1&v=cinema&focus=[1]&at=");
  assert.deepEqual([odd.step, odd.view, odd.focus, odd.selection], [null, null, null, ""]);
  const bomb = await url.compressTextForUrl("\0".repeat(2 ** 21));
  assert.ok((await url.readAddress(`#p=${bomb}`)).broken, "it unpacks to more than a program may have");
});

test("a step without a view is shown as a step, and the views of older links lead to those of today", () => {
  assert.equal(url.readPosition("#i=2").view, "step");
  assert.equal(url.readPosition("").view, null);
  const views = ["step", "stage", "net", "run", "loom", "parameters", "storage", "constructor"];
  assert.deepEqual(
    views.map((view) => url.readPosition(`#i=2&v=${view}`).view),
    ["step", "step", "step", "run", "run", "run", "storage", null],
  );
});

test("the fragment of a state opens as that state", async () => {
  let state = initialState(PAGE);
  for (const action of [
    { type: "programEdited", text: "b = 2" },
    { type: "settingsChanged", settings: { seed: 3, device: "cuda" } },
    { type: "viewChosen", view: "run" },
  ] as Action[])
    state = reduce(state, action);
  const address = await url.readAddress(await stateFragment(state));
  const opened = reduce(initialState(PAGE), { type: "pageOpened", address });
  assert.deepEqual([opened.text, opened.settings, opened.view], [state.text, state.settings, state.view]);
});

test("settings out of range are the defaults, and an address leaves those out", () => {
  for (const seed of ["", "x", "-1", "4294967296", null]) assert.equal(normalizeSettings({ seed }, []).seed, 0);
  assert.deepEqual(normalizeSettings({ seed: "4.9", device: "tpu" }, ["cpu", "cuda"]), { seed: 4, device: "cpu" });
  assert.deepEqual(normalizeSettings({ device: "cuda" }, ["cpu"]), { seed: 0 });
  assert.equal(settingsFragment({ seed: 0, device: "cpu" }), "");
  const trace = { runtime: { seed: 3, device: "cuda:0" } } as any;
  assert.ok(wasTraceMadeWith({ seed: 3, device: "cuda" }, trace) && wasTraceMadeWith({ seed: 3 }, trace));
  assert.ok(!wasTraceMadeWith({ seed: 3, device: "cpu" }, trace));
});
