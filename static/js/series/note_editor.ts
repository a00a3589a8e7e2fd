/** The note of one program of a series in the making, beside the stage on which its step is chosen. */

import { SERVER_ROOT } from "../requests/root.ts";
import { noteNodes } from "../browser/note_nodes.ts";
import type { Locale } from "../words/sentences.ts";
import type { SeriesDraftItem } from "./series_draft.ts";

/** `elementById` gives an element of the page. `onChange` is called with a change of the item that is shown. */
export function createNoteEditor(
  elementById: <T extends HTMLElement>(id: string) => T,
  say: Locale["say"],
  onChange: (change: Partial<SeriesDraftItem>) => void,
): { open: (item: SeriesDraftItem, k: number) => void; show: (item: SeriesDraftItem) => void } {
  const frame = elementById("stage-frame") as HTMLIFrameElement;
  const note = elementById("note") as HTMLTextAreaElement;
  /** the step that the stage shows */
  let stageStep: number | null = null;
  let shownItem: SeriesDraftItem | null = null;

  /** Reads the stage's step whenever it changes. */
  function followStage() {
    const workbench = frame.contentDocument?.getElementById("workbench");
    if (!workbench) return;
    const readStep = () => {
      const { step } = workbench.dataset;
      stageStep = step === undefined ? null : Number(step);
      if (shownItem) showNotePosition(shownItem);
    };
    new MutationObserver(readStep).observe(workbench, { attributeFilter: ["data-step"] });
    readStep();
  }

  function showNotePosition({ step, note: text }: SeriesDraftItem) {
    elementById("at-whole").setAttribute("aria-pressed", String(step === null));
    elementById("at-step").setAttribute("aria-pressed", String(step !== null));
    elementById("at-step").textContent =
      step !== null
        ? say("series_at", { n: step + 1 })
        : stageStep === null
          ? say("series_at_shown")
          : say("series_at_this", { n: stageStep + 1 });
    const canMove = step !== null && stageStep !== null && stageStep !== step;
    elementById("at-shown").hidden = !canMove;
    if (canMove) elementById("at-shown").textContent = say("series_move_here", { n: Number(stageStep) + 1 });
    elementById("preview-where").textContent =
      step === null ? say("series_read_whole") : say("series_read_at", { n: step + 1 });
    elementById("preview").replaceChildren(...noteNodes(text));
    elementById("preview").classList.toggle("empty", !text.trim());
  }

  const bindToStageStep = () => stageStep !== null && onChange({ step: stageStep });
  elementById("at-step").addEventListener("click", () => shownItem?.step === null && bindToStageStep());
  elementById("at-shown").addEventListener("click", () => {
    bindToStageStep();
    elementById("at-step").focus();
  });
  elementById("at-whole").addEventListener("click", () => onChange({ step: null }));
  note.addEventListener("input", () => onChange({ note: note.value }));
  frame.addEventListener("load", followStage);

  return {
    open(item, k) {
      stageStep = null;
      elementById("shown-title").textContent = `${k + 1}. ${item.title || item.program}`;
      note.value = item.note;
      const { lang, dataset } = document.documentElement;
      const theme = dataset.theme ? `&theme=${dataset.theme}` : "";
      const step = item.step ?? item.seen;
      const fragment = step === null ? "" : `#i=${step}`;
      frame.contentWindow?.location.replace(
        `${SERVER_ROOT}/series/stage/${item.program}?lang=${lang}${theme}${fragment}`,
      );
      this.show(item);
    },
    show(item) {
      shownItem = item;
      showNotePosition(item);
    },
  };
}
