/** The menu of a comparison: a place as a picture, the offline page, the differences as JSON, and the code of a frame. */

import { saveFile, startMenu } from "../browser/file_menu.js";
import { offlinePage, pageTheme, toPng } from "../picture/files.js";
import { iframeCode } from "../sharing/sharing.js";
import { comparisonPicture } from "./comparison_picture.js";
import { comparisonReply } from "./reply.js";

/** It fits the column of an article. */
const FRAME_SIZE = { width: 700, height: 560 };

/** @typedef {{comparison: import("./comparison.js").Comparison, row: number, titles: {left: string, right: string}, frame: string | null}} Subject
 *   frame: the address of the frame, null where not both programs are saved ones */

/**
 * @param {{button: HTMLButtonElement, menu: HTMLElement, body: HTMLTemplateElement}} parts body: the offline page's
 * @param {() => Subject | null} currentSubject null where nothing is compared
 * @param {{copied: (name: string) => void, failed: (key: string) => void}} handlers
 */
export function startComparisonDownloads(
  { button, menu, body },
  currentSubject,
  { copied: onCopied, failed: onFailed },
) {
  const language = document.documentElement.lang;
  const pictureText = (/** @type {Subject} */ { comparison, row }) =>
    comparisonPicture(comparison, row, { theme: pageTheme(document.documentElement), language });
  /** @type {Record<string, (subject: Subject) => Promise<Blob> | Blob>} */
  const writers = {
    svg: (subject) => new Blob([pictureText(subject)], { type: "image/svg+xml" }),
    png: (subject) => toPng(pictureText(subject)),
    html({ comparison: { left, right }, row, titles }) {
      const data = {
        left: { trace: left.trace, title: titles.left },
        right: { trace: right.trace, title: titles.right },
        row,
      };
      return offlinePage({ title: document.title, body: body.innerHTML, data });
    },
    json({ comparison: { left, right } }) {
      const reply = comparisonReply({ left: left.trace, right: right.trace }, language);
      return new Blob([JSON.stringify(reply, null, 2)], { type: "application/json" });
    },
  };
  startMenu(button, menu);
  menu.addEventListener("beforetoggle", () => {
    const frame = /** @type {HTMLButtonElement | null} */ (menu.querySelector("[data-share]"));
    if (frame) frame.disabled = !currentSubject()?.frame;
  });
  menu.addEventListener("click", async ({ target }) => {
    const chosenItem = target instanceof Element ? target.closest("[data-take], [data-share]") : null;
    const subject = chosenItem && currentSubject();
    if (!(chosenItem instanceof HTMLElement) || !subject) return;
    menu.hidePopover();
    const extension = chosenItem.dataset.take;
    try {
      if (extension) saveFile(await writers[extension](subject), `gradbox-comparison-${subject.row + 1}.${extension}`);
      else if (subject.frame) {
        await navigator.clipboard.writeText(iframeCode(subject.frame, document.title, FRAME_SIZE));
        onCopied(chosenItem.textContent ?? "");
      }
    } catch {
      onFailed(extension ? "take_failed" : "not_copied");
    }
  });
}
