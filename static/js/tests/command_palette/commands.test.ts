import assert from "node:assert/strict";
import { test } from "node:test";
import english from "../../../locales/commands.en.json" with { type: "json" };
import { commandEntries, operationEntries, keyLabel } from "../../command_palette/entries.ts";
import { queryMatchScore, searchPaletteEntries, type PaletteEntryGroup } from "../../command_palette/match.ts";
import { createCommandRegistry } from "../../browser/commands.ts";
import { pageCommands } from "../../page/page_commands.ts";

const entry = (id: string, label: string, more: object = {}) => ({ id, label, run() {}, ...more });
const ids = (groups: PaletteEntryGroup[]) => groups.flatMap(({ entries }) => entries.map(({ id }) => id));

test("a key does what is available of its commands, and is told from keys of none", () => {
  const done: string[] = [];
  let isPlaying = false;
  const registry = createCommandRegistry([
    { id: "play", keys: [" "], available: () => !isPlaying, run: () => done.push("play") },
    { id: "pause", keys: [" "], available: () => isPlaying, run: () => done.push("pause") },
    { id: "next", keys: ["ArrowRight"], run: () => done.push("next") },
    { id: "over", keys: ["Shift+ArrowRight"], run: () => done.push("over") },
    { id: "undo", keys: ["Mod+z"], isEditorKey: true, run: () => done.push("undo") },
    { id: "never", keys: ["x"], available: () => false, run: () => done.push("never") },
  ]);
  assert.deepEqual(
    registry.available().map(({ id }) => id),
    ["play", "next", "over", "undo"],
  );
  assert.equal(registry.press(" "), true);
  isPlaying = true;
  registry.press(" ", true);
  registry.press("ArrowRight");
  registry.press("ArrowRight", true);
  assert.equal(registry.press("x"), true);
  assert.equal(registry.press("Mod+z"), false);
  assert.equal(registry.press("q"), false);
  assert.deepEqual(done, ["play", "pause", "next", "over"]);
});

test("letters find the beginning of a word before its inside, and that before letters in order", () => {
  const texts = ["Step over", "Overlap", "Discover", "Open a very early run", "Play"];
  const ranked = texts
    .filter((text) => queryMatchScore("over", text) > 0)
    .sort((a, b) => queryMatchScore("over", b) - queryMatchScore("over", a));
  assert.deepEqual(ranked, ["Overlap", "Step over", "Discover", "Open a very early run"]);
  assert.ok(queryMatchScore("step over", "Step over") > queryMatchScore("step over", "Step back over"));
  assert.equal(queryMatchScore("step loom", "Step over"), 0);
});

test("a group with the best hit comes first; other names and sentences find as well", () => {
  const groups = [
    { name: "commands", entries: [entry("clear", "Undo"), entry("zoom", "放大", { names: ["Zoom in"] })] },
    {
      name: "operations",
      entries: [entry("sum", "a.sum()"), entry("clone", "a.clone()", { note: "A copy of its own" })],
    },
  ];
  assert.deepEqual(ids(searchPaletteEntries("", groups)), ["clear", "zoom", "sum", "clone"]);
  assert.deepEqual(ids(searchPaletteEntries("zoom", groups)), ["zoom"]);
  assert.deepEqual(ids(searchPaletteEntries("放", groups)), ["zoom"]);
  assert.deepEqual(ids(searchPaletteEntries("copy", groups)), ["clone"]);
  assert.equal(searchPaletteEntries("sum", groups)[0].name, "operations");
  assert.deepEqual(searchPaletteEntries("no such thing", groups), []);
});

test("an operation is called by its template without the result, and found by its name", () => {
  const [clone] = operationEntries(
    [{ name: "no_grad", group: "graph", template: "with torch.no_grad():\n    {out} = {a} * 2", sentence: "" }],
    () => {},
  );
  assert.equal(clone.label, "with torch.no_grad():");
  assert.deepEqual(clone.names, ["no_grad", "no grad", "graph"]);
});

test("keys are written as they are on the page", () => {
  const written = ["Mod+Enter", "Shift+ArrowRight", "Mod+Shift+z", "+", "-", " ", "o", "?", undefined].map(keyLabel);
  assert.deepEqual(written, ["⌃⏎", "⇧→", "⌃⇧Z", "+", "−", "Space", "o", "?", ""]);
});

test("every command of the page has a label, and no two of one key can be done at once", () => {
  for (const view of ["step", "run"])
    for (const on of [false, true]) {
      const commands = commandsOf(
        {
          view,
          isLive: on,
          predict: on ? {} : null,
          opened: { count: 3, index: { eventPlacesByName: new Map(), nodes: new Map() } },
        },
        on,
      );
      const labels = Object.keys(english).filter((key) => key.startsWith("command_"));
      const own = commands.map(({ id }) => `command_${id}`).filter((key) => key !== "command_palette");
      assert.deepEqual([...own].sort(), labels.sort());
      const keys = commands
        .filter(({ available }) => available?.() ?? true)
        .flatMap((command) => (command.isEditorKey ? [] : (command.keys ?? [])));
      assert.deepEqual(keys.length, new Set(keys).size, keys.join(" "));
      const entries = commandEntries(commands, [], (key) => key, english);
      assert.ok(!entries.some(({ id }) => id === "command-palette"));
    }
});

/** The page's commands on a page whose elements are all there and hidden. `on`: what can be on, is. */
function commandsOf(state: any, on: boolean) {
  const found = { hidden: false, matches: () => false, click() {} };
  Object.assign(globalThis, {
    document: { querySelector: (query: string) => (query.includes("open") ? null : found) },
  });
  const nothing = () => {};
  const parts = {
    elementById: () => found,
    state: () => ({ pending: null, ...state }),
    openPalette: nothing,
    program: {
      editor: { canUndo: () => true, canRedo: () => true, undo: nothing, redo: nothing },
      cards: { areShown: () => on, toggle: nothing },
      run: nothing,
      canStop: () => true,
      toggleBreakpoint: nothing,
    },
    picture: {
      shortcuts: {},
      canAsk: () => true,
      timeline: { isPlaying: () => on, canMove: () => true, key: nothing, toggle: nothing },
    },
  };
  return pageCommands(parts as any);
}
