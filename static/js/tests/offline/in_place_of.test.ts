/** What stands in an offline file in the place of what its run has no use for. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createNet, moduleListPictureWithin } from "../../offline/module_list_placeholder.ts";
import { createStage } from "../../offline/stage_placeholder.ts";
import { setRunSentences, runSentences } from "../../offline/stored_run_sentences.ts";
import { ALL } from "../traces.ts";
import { openTrace } from "../../trace/state.ts";

test("a run on the stage never asks for a list", () => {
  assert.throws(createNet, /on the stage/);
  assert.throws(moduleListPictureWithin, /on the stage/);
});

test("a stage that is not there takes what the page tells it, and has no folds", () => {
  const stage = createStage({} as HTMLElement, {} as Document, {} as never);
  stage.show(openTrace(ALL.sharing()), 0);
  stage.select("handle:t1");
  assert.equal(stage.toggled().size, 0);
});

test("the headline of a whole run is the one that was kept", () => {
  const said = [{ text: "3 rounds", isBad: false }];
  setRunSentences(said);
  assert.deepEqual(runSentences(openTrace(ALL.sharing()), "en"), said);
});
