/** The menu of files to download; what makes them is fetched when one is chosen. */

import { saveFile, startMenu } from "../browser/file_menu.js";

/**
 * @typedef {{opened: import("../trace/state.js").OpenTrace, toggled: ReadonlySet<string>, step: number, name: string,
 *   about: import("../sharing/about.js").About}} Subject
 *   toggled: the stage's folds that the reader opened or closed; name: the stem of the files' names
 */

/**
 * @param {{button: HTMLElement, menu: HTMLElement, body: HTMLTemplateElement}} parts body: the offline page's
 * @param {() => Subject | null} currentSubject returns what can be downloaded now, null where nothing is drawn
 * @param {(error: unknown) => void} onFailed
 */
export function startDownloads({ button, menu, body }, currentSubject, onFailed) {
  const { documentElement: root } = document;
  menu.addEventListener("click", async (event) => {
    const file =
      event.target instanceof Element ? event.target.closest("[data-take]")?.getAttribute("data-take") : null;
    const subject = file ? currentSubject() : null;
    if (!file || !subject) return;
    menu.hidePopover();
    try {
      const { createFile } = await import("./files.js");
      saveFile(await createFile(file, subject, root, body.innerHTML), fileName(file, subject));
    } catch (error) {
      onFailed(error);
    }
  });
  startMenu(button, menu);
}

/** A file name that every file system accepts, with the step's number where the file is of one. @param {string} file @param {Subject} subject */
function fileName(file, { name, step }) {
  const [kind, ending] = file.split(".");
  const suffix = { step: `-step-${step + 1}`, loom: `-loom-step-${step + 1}` }[kind] ?? "";
  return `gradbox-${name.replace(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "program"}${suffix}.${ending}`;
}
