/** A file of the reader's on the workbench: a program comes into the editor, a trace is shown by the page that opens files. */

import { startFileOpening } from "./file_opening.js";
import { ROOT } from "../requests/root.js";

/**
 * @param {{button: HTMLElement, field: HTMLInputElement}} fileControls
 * @param {(action: import("../page_state/page_state.js").Action) => void} dispatch
 */
export function startOpening(fileControls, dispatch) {
  /** @param {import("../page_state/page_state.js").Problem | null} problem */
  const showProblem = (problem) => dispatch({ type: "problemFound", problem });

  startFileOpening(fileControls, async (files) => {
    showProblem(null);
    const [{ FileProblem, readFile }, { storeForNextPage }] = await Promise.all([
      import("./chosen_file.js"),
      import("./handed_traces.js"),
    ]);
    try {
      if (files.length !== 1) throw new FileProblem("file_one");
      const content = await readFile(files[0]);
      if (content.kind === "program") return dispatch({ type: "programEdited", text: unixLines(content.source) });
      await storeForNextPage({ name: content.name, texts: content.texts, shown: 0 });
      location.assign(`${ROOT}/open?lang=${document.documentElement.lang}`);
    } catch (error) {
      if (error instanceof FileProblem) showProblem({ key: error.key, args: error.args });
      else showProblem({ key: "file_unread", args: { name: files[0].name } });
    }
  });
}

/** As the editor has them. @param {string} text */
const unixLines = (text) => text.replace(/\r\n?/g, "\n");
