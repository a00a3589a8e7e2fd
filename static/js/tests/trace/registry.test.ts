/**
 * Every row of the table of events is complete on the page's side: a mark that the timeline draws, a sentence with its
 * arguments.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { bundledLocale } from "../../words/locale.ts";
import { captionNotesOfStep } from "../../captions/notes.ts";
import { EVENTS } from "../../trace/registry.ts";
import { openTrace } from "../../trace/state.ts";
import { TIMELINE_MARKS, timelineMarkOf } from "../../timeline/timeline.ts";

const folder = (name: string) => new URL(`../../../${name}/`, import.meta.url);
const styles = readdirSync(folder("css"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".css"))
  .map((path) => readFileSync(new URL(path, folder("css")), "utf8"));

const declarations = readFileSync(new URL("../../trace/wire.ts", import.meta.url), "utf8");
/** What a field holds in these tests; 1 where none is given. */
const EXAMPLES: Record<string, unknown> = {
  what: "workers",
  ...{ node: "n1", slot: "self", tensor: "t1", storage: "s1", counter: "c1", result: "t1", by: "t1", from: 0 },
  ...{ reason: "detach", category: "UserWarning", text: "text", limit: "steps", hook: "tensor" },
};

/** The fields that the wire declares of an event. */
function fieldsOf(event: string): string[] {
  const declared = declarations.match(new RegExp(`\\{([^{}]*  event: "${event}";[^{}]*)\\}`));
  assert.ok(declared, event);
  const names = [...declared[1].matchAll(/^ {2}(\w+)\??:/gm)].map((match) => match[1]);
  return names.filter((name) => !["kind", "event", "op", "span"].includes(name));
}

/** A step with one event that says something in every field that a sentence may name. */
function step(event: string) {
  const fields = Object.fromEntries(fieldsOf(event).map((name) => [name, EXAMPLES[name] ?? 1]));
  return {
    i: 0,
    kind: "statement",
    line: 1,
    set: { n1: NODE },
    gone: [],
    log: [{ kind: "event", event, ...fields }],
  };
}

const NODE = { kind: "node", name: "MulBackward0", saved: { self: { tensor: "t1", expected: 0, state: "ok" } } };

for (const language of ["en", "zh"]) {
  const { say } = bundledLocale(language);
  for (const [name, row] of Object.entries(EVENTS)) {
    if (!row?.sentence) continue;
    test(`${name} is told in ${language}`, () => {
      const opened = openTrace({ program: { source: "" }, steps: [step(name)], outcome: { status: "finished" } });
      const [note] = captionNotesOfStep(opened, 0);
      const text = say(note.key, note.args);
      assert.notEqual(text, note.key);
      assert.doesNotMatch(text, /[{}]|undefined/);
    });
  }
}

test("every mark of an event is one of the timeline's", () => {
  for (const [name, row] of Object.entries(EVENTS))
    if (row?.mark) assert.equal(timelineMarkOf(step(name)), row.mark, name);
});

test("every mark has a style", () => {
  for (const name of Object.keys(TIMELINE_MARKS))
    assert.ok(
      styles.some((text) => text.includes(`.mark-${name}`)),
      name,
    );
});
