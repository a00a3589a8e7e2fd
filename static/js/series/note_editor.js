/** The note of one program of a series in the making, beside the stage on which its step is chosen. */

import { ROOT } from "../root.js";
import { noteNodes } from "./note_nodes.js";

/** @typedef {import("./draft.js").DraftItem} DraftItem */

/**
 * @param {<T extends HTMLElement>(id: string) => T} find an element of the page, by its id
 * @param {import("../locale.js").Locale["say"]} say
 * @param {(change: Partial<DraftItem>) => void} onChange of the item that is shown
 * @returns {{open: (item: DraftItem, k: number) => void, show: (item: DraftItem) => void}}
 */
export function createNoteEditor(find, say, onChange) {
  const frame = /** @type {HTMLIFrameElement} */ (find("stage-frame"));
  const note = /** @type {HTMLTextAreaElement} */ (find("note"));
  /** @type {number | null} the step that the stage shows */
  let stageStep = null;
  /** @type {DraftItem | null} */
  let shown = null;

  /** Reads the stage's step whenever it changes. */
  function followStage() {
    const workbench = frame.contentDocument?.getElementById("workbench");
    if (!workbench) return;
    const read = () => {
      const { step } = workbench.dataset;
      stageStep = step === undefined ? null : Number(step);
      if (shown) showWhere(shown);
    };
    new MutationObserver(read).observe(workbench, { attributeFilter: ["data-step"] });
    read();
  }

  /** @param {DraftItem} item */
  function showWhere({ step, note: text }) {
    find("at-whole").setAttribute("aria-pressed", String(step === null));
    find("at-step").setAttribute("aria-pressed", String(step !== null));
    find("at-step").textContent =
      step !== null
        ? say("series_at", { n: step + 1 })
        : stageStep === null
          ? say("series_at_shown")
          : say("series_at_this", { n: stageStep + 1 });
    const canMove = step !== null && stageStep !== null && stageStep !== step;
    find("at-shown").hidden = !canMove;
    if (canMove) find("at-shown").textContent = say("series_move_here", { n: Number(stageStep) + 1 });
    find("preview-where").textContent =
      step === null ? say("series_read_whole") : say("series_read_at", { n: step + 1 });
    find("preview").replaceChildren(...noteNodes(text));
    find("preview").classList.toggle("empty", !text.trim());
  }

  const bindHere = () => stageStep !== null && onChange({ step: stageStep });
  find("at-step").addEventListener("click", () => shown?.step === null && bindHere());
  find("at-shown").addEventListener("click", () => {
    bindHere();
    find("at-step").focus();
  });
  find("at-whole").addEventListener("click", () => onChange({ step: null }));
  note.addEventListener("input", () => onChange({ note: note.value }));
  frame.addEventListener("load", followStage);

  return {
    open(item, k) {
      stageStep = null;
      find("shown-title").textContent = `${k + 1}. ${item.title || item.program}`;
      note.value = item.note;
      const { lang, dataset } = document.documentElement;
      const theme = dataset.theme ? `&theme=${dataset.theme}` : "";
      const step = item.step ?? item.seen;
      const fragment = step === null ? "" : `#i=${step}`;
      frame.contentWindow?.location.replace(`${ROOT}/series/stage/${item.program}?lang=${lang}${theme}${fragment}`);
      this.show(item);
    },
    show(item) {
      shown = item;
      showWhere(item);
    },
  };
}
