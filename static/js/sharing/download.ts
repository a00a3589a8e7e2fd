/** The menu of files to download; what makes them is fetched when one is chosen. */

import { downloadBlob, positionFileMenu } from "../browser/file_menu.ts";
import type { DownloadSubject } from "./run_files.ts";

interface DownloadsParts {
  button: HTMLElement;
  menu: HTMLElement;
  /** the offline page's */
  body: HTMLTemplateElement;
}

/** `currentSubject` returns what can be downloaded now, null where nothing is drawn. */
export function startDownloadMenu(
  { button, menu, body }: DownloadsParts,
  currentSubject: () => DownloadSubject | null,
  onFailed: (error: unknown) => void,
) {
  const { documentElement: root } = document;
  menu.addEventListener("click", async (event) => {
    const file =
      event.target instanceof Element ? event.target.closest("[data-take]")?.getAttribute("data-take") : null;
    const subject = file ? currentSubject() : null;
    if (!file || !subject) return;
    menu.hidePopover();
    try {
      const { createDownloadFile: createFile } = await import("./run_files.ts");
      downloadBlob(await createFile(file, subject, root, body.innerHTML), downloadFileName(file, subject));
    } catch (error) {
      onFailed(error);
    }
  });
  positionFileMenu(button, menu);
}

/** A file name that every file system accepts, with the step's number where the file is of one. */
function downloadFileName(file: string, { name, step }: DownloadSubject) {
  const [kind, ending] = file.split(".");
  const suffix = { step: `-step-${step + 1}`, loom: `-loom-step-${step + 1}` }[kind] ?? "";
  return `gradbox-${name.replace(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "program"}${suffix}.${ending}`;
}
