/**
 * A file of the reader's on the workbench: a program comes into the editor, a trace is shown by the page that opens
 * files.
 */

import { startFileButtonAndDrop } from "./file_opening.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import type { Action } from "../page_state/actions.ts";
import type { RequestProblem } from "../requests/trace_source.ts";

export function startFileOpeningOnWorkbench(
  fileControls: { button: HTMLElement; field: HTMLInputElement },
  dispatch: (action: Action) => void,
) {
  const showProblem = (problem: RequestProblem | null) => dispatch({ type: "problemFound", problem });

  startFileButtonAndDrop(fileControls, async (files) => {
    showProblem(null);
    const [{ FileProblem, readChosenFile: readFile }, { storeTracesForNextPage: storeForNextPage }] = await Promise.all(
      [import("./chosen_file.ts"), import("./traces_between_pages.ts")],
    );
    try {
      if (files.length !== 1) throw new FileProblem("file_one");
      const content = await readFile(files[0]);
      if (content.kind === "program")
        return dispatch({ type: "programEdited", text: withUnixLineEnds(content.source) });
      await storeForNextPage({ name: content.name, texts: content.texts, shown: 0 });
      location.assign(`${SERVER_ROOT}/open?lang=${document.documentElement.lang}`);
    } catch (error) {
      if (error instanceof FileProblem) showProblem({ key: error.key, args: error.args });
      else showProblem({ key: "file_unread", args: { name: files[0].name } });
    }
  });
}

/** As the editor has them. */
const withUnixLineEnds = (text: string) => text.replace(/\r\n?/g, "\n");
