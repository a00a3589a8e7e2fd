/** The preview of a draft at its position: what its program would show, and which cards and names it would affect. */

import { isCurrent } from "../page_state/selectors.js";
import { createCardPreview } from "./card_preview.js";
import * as edits from "./edits.js";
import { applyEdits } from "./line_edits.js";
import { affectedLines, lossesAt } from "./preview_effects.js";

/**
 * @param {import("./card_preview.js").PreviewStage} stage
 * @param {HTMLElement} list of the cards
 * @param {ReturnType<typeof import("./card_list.js").createCardList>} cards
 * @param {() => import("../page_state/page_state.js").PageState} currentState the page's state
 * @param {import("../words/locale.js").Locale["say"]} say
 */
export function createDraftPreview(stage, list, cards, currentState, say) {
  const hasLive = document.getElementById("workbench")?.dataset.live !== "off";
  /** the edits that are previewed @type {import("./line_edits.js").LineEdit[]} */
  let previewedEdits = [];
  const cardPreview = createCardPreview(stage, hasLive, {
    onProblem(problem) {
      const problemElement = list.querySelector(".ghost-problem");
      if (problemElement) problemElement.textContent = problem ? say(problem.key, { message: problem.message }) : "";
      if (!problem) cards.setAffectedLines(new Map());
    },
    onPreview(opened, step) {
      const state = currentState();
      cards.setAffectedLines(affectedLines(isCurrent(state) ? state.opened : null, opened, previewedEdits));
      const { memory, nodes } = lossesAt(opened, step);
      const freed = memory.map(({ name, size }) => say("ghost_freed", { name, size }));
      return nodes.length ? [...freed, say("ghost_nodes", { nodes: nodes.join(", ") })] : freed;
    },
  });

  return {
    clear: cardPreview.clear,
    /** @param {import("./positions.js").Position} position @param {import("./palette.js").Draft | null} draft null: nothing is */
    show(position, draft) {
      const outcome = draft && edits.insertStatements(cards.parsedProgram(), position, draft.statement, draft.imports);
      if (!draft || !outcome || "refused" in outcome) return cardPreview.clear();
      previewedEdits = outcome.edits;
      const source = applyEdits(cards.parsedProgram().lines, outcome.edits).join("\n");
      const line = outcome.line + 1;
      const statement = draft.statement.split("\n")[0];
      cardPreview.show({ source, ...currentState().settings }, line, say("form_said", { line, statement }));
    },
  };
}
