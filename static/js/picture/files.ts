/** The files that can be downloaded: a step or the whole run as SVG or PNG, an offline page, the run's tables. */

import { loomSvgAsShown, runSvg } from "./picture.ts";
import { shownRun } from "./shown_run.ts";
import { pictureOfRun } from "../trace/run_picture.ts";
import { ROOT } from "../requests/root.ts";
import { offlineHtml } from "./standalone.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { About } from "../browser/about.ts";
import type { OfflineContent } from "./export_request.ts";
import type { View } from "../page_state/url.ts";

const PNG_SCALE = 2;
const MAX_PNG_SIDE = 16000;
const MAX_PNG_AREA = 120e6;

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
    const answers = (await import("./offline_answers.ts")).offlineAnswers(opened, root.lang);
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
    ? runSvg(opened, shown, options, toggled)
    : isByStorage
      ? loomSvgAsShown(opened, step, options)
      : runSvg(opened, { ...shown, view: "run" }, options);
  return file.endsWith(".png") ? svgToPng(svg) : new Blob([svg], { type: "image/svg+xml" });
}

/** What the page is drawn in. */
export function themeOfPage(root: HTMLElement): "light" | "dark" {
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  return isDark ? "dark" : "light";
}

/** A PNG, twice as large where a canvas can be. */
export async function svgToPng(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { naturalWidth: w, naturalHeight: h } = image;
  const scale = Math.min(PNG_SCALE, MAX_PNG_SIDE / Math.max(w, h), Math.sqrt(MAX_PNG_AREA / (w * h)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(w * scale);
  canvas.height = Math.round(h * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no PNG"))), "image/png"),
  );
}

interface OfflinePageContent {
  title: string;
  /** trusted HTML */
  body: string;
  data: unknown;
  content: OfflineContent;
}

/** A page that needs no server. */
export async function createOfflinePage({ title, body, data, content }: OfflinePageContent): Promise<Blob> {
  const { documentElement: root } = document;
  const [style, script] = await Promise.all(
    [content === "compare" ? "style.css" : `offline.${content}.css`, `offline.${content}.${root.lang}.js`].map(
      fetchBuiltFile,
    ),
  );
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  const theme = root.dataset.theme ?? null;
  const text = offlineHtml({ title, language: root.lang, theme, body, style, script, nonce, data });
  return new Blob([text], { type: "text/html" });
}

/** A built file of this server's. */
async function fetchBuiltFile(name: string): Promise<string> {
  const response = await fetch(`${ROOT}/static/dist/${name}`);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.text();
}

export interface DownloadSubject {
  opened: OpenTrace;
  /** the stage's folds that the reader opened or closed */
  toggled: ReadonlySet<string>;
  step: number;
  view: View;
  /** the stem of the files' names */
  name: string;
  about: About;
}
