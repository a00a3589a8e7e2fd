/** The files that can be downloaded: a step or the whole run as SVG or PNG, an offline page, the run's tables. */

import { createOfflinePage, svgToPng, themeOfPage } from "../picture/files.ts";
import { loomSvgAsShown, runPictureSvg } from "../picture/picture.ts";
import { shownRun } from "../picture/shown_run.ts";
import { pictureOfRun } from "../trace/run_picture.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { ProgramDescription } from "../browser/program_description.ts";
import type { View } from "../page_state/url.ts";

/**
 * `file` is "step.svg", "step.png", "loom.svg", "loom.png", "run.html" or "tables.csv". The file has the theme and the
 * language of `root`; `body` is that of the offline page.
 */
export async function createDownloadFile(
  file: string,
  subject: DownloadSubject,
  root: HTMLElement,
  body: string,
): Promise<Blob> {
  const { opened, step, view, toggled, about } = subject;
  if (file === "run.html") {
    const answers = (await import("../offline/offline_content.ts")).offlineContent(opened, root.lang);
    return createOfflinePage({
      title: `Gradbox: ${about.title}`,
      body,
      data: { trace: opened.trace, answers, step, view, verdict: true, ...about },
      content: answers.picture,
    });
  }
  if (file === "tables.csv") {
    const { tablesCsv } = await import("../nets/tables_csv.ts");
    return new Blob([tablesCsv(opened, step)], { type: "text/csv" });
  }
  const options = { theme: themeOfPage(root), language: root.lang };
  const shown = shownRun(opened, step, root.lang);
  const isByStorage = view === "storage" || pictureOfRun(opened) === "stage";
  const svg = !file.startsWith("loom")
    ? runPictureSvg(opened, shown, options, toggled)
    : isByStorage
      ? loomSvgAsShown(opened, step, options)
      : runPictureSvg(opened, { ...shown, view: "run" }, options);
  return file.endsWith(".png") ? svgToPng(svg) : new Blob([svg], { type: "image/svg+xml" });
}

export interface DownloadSubject {
  opened: OpenTrace;
  /** the stage's folds that the reader opened or closed */
  toggled: ReadonlySet<string>;
  step: number;
  view: View;
  /** the stem of the files' names */
  name: string;
  about: ProgramDescription;
}
