/** The download menu: the step or the whole run as SVG or PNG, and the run as an offline page. */

import { loomAs, pictureAs } from "./picture.js";
import { ROOT } from "./root.js";
import { standalone } from "./standalone.js";

const PNG_SCALE = 2;
const MAX_SIDE = 16000;
const MAX_AREA = 120e6;
const REVOKE_AFTER_MS = 20000;
const MARGIN = 6;

/**
 * @typedef {{opened: import("./state.js").OpenTrace, toggled: ReadonlySet<string>, step: number, name: string,
 *   about: import("./about.js").About}} Subject
 *   toggled: the stage's folds that the reader opened or closed; name: the stem of the files' names
 */

/**
 * @param {{button: HTMLElement, menu: HTMLElement, body: HTMLTemplateElement}} parts body: the offline page's
 * @param {() => Subject | null} current returns what can be downloaded now, null where nothing is drawn
 * @param {(error: unknown) => void} failed
 */
export function startDownloads({ button, menu, body }, current, failed) {
  const { documentElement: root } = document;
  /** @param {Subject} subject */
  const step = ({ toggled, opened, step }) =>
    pictureAs(toggled, opened, step, { theme: theme(root), language: root.lang });
  /** @param {Subject} subject */
  const run = ({ opened, step }) => loomAs(opened, step, { theme: theme(root), language: root.lang });
  const svg = (/** @type {string} */ text) => new Blob([text], { type: "image/svg+xml" });
  /** @type {Record<string, (subject: Subject) => Promise<Blob> | Blob>} */
  const writers = {
    "step.svg": (subject) => svg(step(subject)),
    "step.png": (subject) => toPng(step(subject)),
    "loom.svg": (subject) => svg(run(subject)),
    "loom.png": (subject) => toPng(run(subject)),
    "run.html": async (subject) => new Blob([await offlinePage(subject, body.innerHTML, root)], { type: "text/html" }),
  };

  menu.addEventListener("click", async (event) => {
    const file =
      event.target instanceof Element ? event.target.closest("[data-take]")?.getAttribute("data-take") : null;
    const subject = file ? current() : null;
    if (!file || !subject) return;
    menu.hidePopover();
    try {
      saveFile(await writers[file](subject), fileName(file, subject));
    } catch (error) {
      failed(error);
    }
  });
  menu.addEventListener("beforetoggle", () => {
    menu.style.visibility = "hidden"; // until it is positioned
  });
  menu.addEventListener("toggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== "open") return;
    const at = button.getBoundingClientRect();
    const { width, height } = menu.getBoundingClientRect();
    menu.style.left = `${Math.max(MARGIN, Math.min(at.right - width, root.clientWidth - width - MARGIN))}px`;
    menu.style.top = `${at.top - height - MARGIN < 0 ? at.bottom + MARGIN : at.top - height - MARGIN}px`;
    menu.style.visibility = "";
    menu.querySelector("button")?.focus();
  });
}

/** What the page is drawn in. @param {HTMLElement} root @returns {"light" | "dark"} */
function theme(root) {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? "dark" : "light";
}

/** A file name that every file system accepts, with the step's number where the file is of one. @param {string} file @param {Subject} subject */
function fileName(file, { name, step }) {
  const [kind, ending] = file.split(".");
  const part = { step: `-step-${step + 1}`, loom: `-loom-step-${step + 1}` }[kind] ?? "";
  return `gradbox-${name.replace(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "program"}${part}.${ending}`;
}

/** @param {string} svg @returns {Promise<Blob>} a PNG, twice as large where a canvas can be */
async function toPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { naturalWidth: w, naturalHeight: h } = image;
  const k = Math.min(PNG_SCALE, MAX_SIDE / Math.max(w, h), Math.sqrt(MAX_AREA / (w * h)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(w * k);
  canvas.height = Math.round(h * k);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no PNG"))), "image/png"),
  );
}

/** @param {Subject} subject @param {string} body @param {HTMLElement} root @returns {Promise<string>} */
async function offlinePage({ opened, step, about }, body, root) {
  const [style, script] = await Promise.all(["style.css", "offline.js"].map(fetchBuilt));
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  return standalone({
    title: `Gradbox: ${about.title}`,
    language: root.lang,
    theme: root.dataset.theme ?? null,
    body,
    style,
    script,
    nonce,
    data: { trace: opened.trace, step, ...about },
  });
}

/** @param {string} name @returns {Promise<string>} a built file of this server's */
async function fetchBuilt(name) {
  const response = await fetch(`${ROOT}/static/dist/${name}`);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.text();
}

/** @param {Blob} blob @param {string} name */
function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS);
}
