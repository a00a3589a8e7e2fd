/** The strip at the stage's foot: that the picture waits for the text, or why the text has none. */

import { createElement } from "../browser/elements.ts";
import type { Locale } from "../words/sentences.ts";

export interface ReasonWithoutPicture {
  text: string;
  line: number | null;
  kind: "refused" | "stopped" | "failed" | "later";
}

export function createLiveStatusStrip(host: HTMLElement, say: Locale["say"]) {
  const box = createElement("div", "live-strip");
  const status = createElement("p", "live-text");
  const detailElement = createElement("span", "live-side");
  box.hidden = true;
  box.append(createElement("i", "live-icon"), status, detailElement);
  host.append(box);
  let shownKey = "";

  function show(kind: string, text: string, detail: string, isSpoken: boolean) {
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
    /** `line` is the first that differs, null where the settings do. */
    typing(line: number | null, isUnfinished: boolean) {
      const text = line === null ? say("live_settings") : say("live_typing", { line });
      show("typing", text, isUnfinished ? say("live_unfinished") : "", false);
    },
    /** The reader waits for a run. `line` is the first that differs, null where the settings do. */
    running(line: number | null) {
      const text = line === null ? say("live_running") : say("live_running_line", { line });
      show("typing", text, "", true);
    },
    showReason({ text, line, kind }: ReasonWithoutPicture) {
      show(kind, text, line === null ? "" : say("line", { line }), true);
    },
  };
}
