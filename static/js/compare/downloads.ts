/**
 * The menu of a comparison: a place as a picture, the offline page, the differences as JSON, and the code of a frame.
 */

import { downloadBlob, positionFileMenu } from "../browser/file_menu.ts";
import { createOfflinePage, themeOfPage, svgToPng } from "../picture/files.ts";
import { iframeCode } from "../sharing/share_menu.ts";
import { comparisonPicture } from "./comparison_picture.ts";
import { comparisonReply } from "./comparison_reply.ts";
import type { Comparison } from "./comparison.ts";

/** It fits the column of an article. */
const EMBED_FRAME_SIZE = { width: 700, height: 560 };

interface ComparisonToDownload {
  comparison: Comparison;
  row: number;
  titles: { left: string; right: string };
  /** the address of the frame, null where not both programs are saved ones */
  frame: string | null;
}

interface ComparisonDownloadsParts {
  button: HTMLButtonElement;
  menu: HTMLElement;
  /** the offline page's */
  body: HTMLTemplateElement;
}

/** `currentSubject` returns null where nothing is compared. */
export function startComparisonDownloads(
  { button, menu, body }: ComparisonDownloadsParts,
  currentSubject: () => ComparisonToDownload | null,
  { copied: onCopied, failed: onFailed }: { copied: (name: string) => void; failed: (key: string) => void },
) {
  const language = document.documentElement.lang;
  const pictureText = ({ comparison, row }: ComparisonToDownload) =>
    comparisonPicture(comparison, row, { theme: themeOfPage(document.documentElement), language });
  const writers: Record<string, (subject: ComparisonToDownload) => Promise<Blob> | Blob> = {
    svg: (subject) => new Blob([pictureText(subject)], { type: "image/svg+xml" }),
    png: (subject) => svgToPng(pictureText(subject)),
    html({ comparison: { left, right }, row, titles }) {
      const data = {
        left: { trace: left.trace, title: titles.left },
        right: { trace: right.trace, title: titles.right },
        row,
      };
      return createOfflinePage({ title: document.title, body: body.innerHTML, data, content: "compare" });
    },
    json({ comparison: { left, right } }) {
      const reply = comparisonReply({ left: left.trace, right: right.trace }, language);
      return new Blob([JSON.stringify(reply, null, 2)], { type: "application/json" });
    },
  };
  positionFileMenu(button, menu);
  menu.addEventListener("beforetoggle", () => {
    const frame = menu.querySelector("[data-share]") as HTMLButtonElement | null;
    if (frame) frame.disabled = !currentSubject()?.frame;
  });
  menu.addEventListener("click", async ({ target }) => {
    const chosenItem = target instanceof Element ? target.closest("[data-take], [data-share]") : null;
    const subject = chosenItem && currentSubject();
    if (!(chosenItem instanceof HTMLElement) || !subject) return;
    menu.hidePopover();
    const extension = chosenItem.dataset.take;
    try {
      if (extension)
        downloadBlob(await writers[extension](subject), `gradbox-comparison-${subject.row + 1}.${extension}`);
      else if (subject.frame) {
        await navigator.clipboard.writeText(iframeCode(subject.frame, document.title, EMBED_FRAME_SIZE));
        onCopied(chosenItem.textContent ?? "");
      }
    } catch {
      onFailed(extension ? "take_failed" : "not_copied");
    }
  });
}
