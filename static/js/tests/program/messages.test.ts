/** What stands under a program's lines: also what was done otherwise than a line asks. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { bundledLocale } from "../../words/locale.ts";
import { programMessages } from "../../program/program_messages.ts";

/** A step at a line, with an event that says what was replaced there. */
const step = (line: number, event: Record<string, unknown>) => ({
  line,
  log: [{ kind: "event", event: "replaced", ...event }],
});

for (const language of ["en", "zh"]) {
  const { say } = bundledLocale(language);
  test(`a replacement is one notice at its line, in ${language}`, () => {
    const steps = [
      step(2, { what: "compile" }),
      step(3, { what: "workers", count: 2 }),
      step(3, { what: "workers", count: 2 }),
    ];
    const trace = { program: { notices: [] }, steps, outcome: { status: "finished" } } as any;
    const notices = programMessages(trace, say, () => {});
    assert.deepEqual(
      notices.map(({ line, kind }) => [line, kind]),
      [
        [2, "notice"],
        [3, "notice"],
      ],
    );
    assert.match(notices[0].text, /torch\.compile/);
    assert.match(notices[1].text, /DataLoader.*2/);
    for (const { text } of notices) assert.doesNotMatch(text, /[{}]|undefined/);
  });
}
