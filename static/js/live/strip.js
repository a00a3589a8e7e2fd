/** The strip at the stage's foot: that the picture waits for the text, or why the text has none. */

import { element } from "../browser/elements.js";

/** @typedef {{text: string, line: number | null, kind: "refused" | "stopped" | "failed" | "later"}} Reason */

/** @param {HTMLElement} host @param {import("../words/locale.js").Locale["say"]} say */
export function createStrip(host, say) {
  const box = element("div", "live-strip");
  const status = element("p", "live-text");
  const detailElement = element("span", "live-side");
  box.hidden = true;
  box.append(element("i", "live-icon"), status, detailElement);
  host.append(box);
  let shownKey = "";

  /** @param {string} kind @param {string} text @param {string} detail @param {boolean} isSpoken */
  function show(kind, text, detail, isSpoken) {
    const key = `${kind}\n${text}\n${detail}`;
    if (key === shownKey) return;
    shownKey = key;
    box.hidden = false;
    box.className = `live-strip ${kind}`;
    if (isSpoken) status.setAttribute("role", "status");
    else status.removeAttribute("role");
    status.textContent = text;
    detailElement.textContent = detail;
  }

  return {
    hide() {
      box.hidden = true;
      shownKey = "";
    },
    /** @param {number | null} line the first that differs, null where the settings do @param {boolean} isUnfinished */
    typing(line, isUnfinished) {
      const text = line === null ? say("live_settings") : say("live_typing", { line });
      show("typing", text, isUnfinished ? say("live_unfinished") : "", false);
    },
    /** The reader waits for a run. @param {number | null} line the first that differs, null where the settings do */
    running(line) {
      const text = line === null ? say("live_running") : say("live_running_line", { line });
      show("typing", text, "", true);
    },
    /** @param {Reason} reason */
    showReason({ text, line, kind }) {
      show(kind, text, line === null ? "" : say("line", { line }), true);
    },
  };
}
