/** The preview of a draft at its position: what its program would show, and which cards and names it would affect. */

import { doesTraceMatchText } from "../page_state/selectors.ts";
import { createCardPreview, type PreviewStage } from "./card_preview.ts";
import * as edits from "./edits.ts";
import { applyLineEdits, type LineEdit } from "./line_edits.ts";
import { linesAffectedByEdits, memoryAndNodesFreedAt } from "./preview_effects.ts";
import type { Locale } from "../words/sentences.ts";
import type { createCardList } from "./card_list.ts";
import type { StatementDraft } from "./palette.ts";
import type { StatementPosition } from "./positions.ts";
import type { PageState } from "../page_state/state.ts";

export function createDraftPreview(
  stage: PreviewStage,
  list: HTMLElement,
  cards: ReturnType<typeof createCardList>,
  currentState: () => PageState,
  say: Locale["say"],
) {
  const hasLive = document.getElementById("workbench")?.dataset.live !== "off";
  /** the edits that are previewed */
  let previewedEdits: LineEdit[] = [];
  const cardPreview = createCardPreview(stage, hasLive, {
    onProblem(problem) {
      const problemElement = list.querySelector(".ghost-problem");
      if (problemElement) problemElement.textContent = problem ? say(problem.key, { message: problem.message }) : "";
      if (!problem) cards.setAffectedLines(new Map());
    },
    onPreview(opened, step) {
      const state = currentState();
      cards.setAffectedLines(
        linesAffectedByEdits(doesTraceMatchText(state) ? state.opened : null, opened, previewedEdits),
      );
      const { memory, nodes } = memoryAndNodesFreedAt(opened, step);
      const freed = memory.map(({ name, size }) => say("ghost_freed", { name, size }));
      return nodes.length ? [...freed, say("ghost_nodes", { nodes: nodes.join(", ") })] : freed;
    },
  });

  return {
    clear: cardPreview.clear,
    /** Null: no draft is shown. */
    show(position: StatementPosition, draft: StatementDraft | null) {
      const outcome = draft && edits.insertStatements(cards.parsedProgram(), position, draft.statement, draft.imports);
      if (!draft || !outcome || "refused" in outcome) return cardPreview.clear();
      previewedEdits = outcome.edits;
      const source = applyLineEdits(cards.parsedProgram().lines, outcome.edits).join("\n");
      const line = outcome.line + 1;
      const statement = draft.statement.split("\n")[0];
      cardPreview.show({ source, ...currentState().settings }, line, say("form_said", { line, statement }));
    },
  };
}
