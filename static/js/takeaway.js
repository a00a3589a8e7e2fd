/** Taking it away: a menu that writes the step or the whole run as SVG or PNG, and the run as an offline page. */

import { loomAs, pictureAs } from "./picture.js";
import { ROOT } from "./root.js";
import { standalone } from "./standalone.js";

const LARGER = 2;
const SIDE = 16000;
const AREA = 120e6;
const KEPT = 20000;
const MARGIN = 6;

/**
 * @typedef {{opened: import("./state.js").Opened, plan: import("./layout/plan.js").Plan | null, step: number, name: string, title: string}} Taken
 *   plan: that of the stage, where it is drawn; name: what the files are called after
 */

/**
 * @param {{button: HTMLElement, menu: HTMLElement, body: HTMLTemplateElement}} parts body: the offline page's
 * @param {() => Taken | null} now what there is to take, null where nothing is drawn
 * @param {(error: unknown) => void} failed
 */
export function startTakeaway({ button, menu, body }, now, failed) {
  const { documentElement: root } = document;
  /** @param {Taken} taken */
  const step = ({ plan, opened, step }) => pictureAs(plan, opened, step, { theme: theme(root), language: root.lang });
  /** @param {Taken} taken */
  const run = ({ opened, step }) => loomAs(opened, step, { theme: theme(root), language: root.lang });
  const svg = (/** @type {string} */ text) => new Blob([text], { type: "image/svg+xml" });
  /** @type {Record<string, (taken: Taken) => Promise<Blob> | Blob>} */
  const writers = {
    "step.svg": (taken) => svg(step(taken)),
    "step.png": (taken) => painted(step(taken)),
    "loom.svg": (taken) => svg(run(taken)),
    "loom.png": (taken) => painted(run(taken)),
    "run.html": async (taken) => new Blob([await offline(taken, body.innerHTML, root)], { type: "text/html" }),
  };

  menu.addEventListener("click", async (event) => {
    const file =
      event.target instanceof Element ? event.target.closest("[data-take]")?.getAttribute("data-take") : null;
    const taken = file ? now() : null;
    if (!file || !taken) return;
    menu.hidePopover();
    try {
      save(await writers[file](taken), named(file, taken));
    } catch (error) {
      failed(error);
    }
  });
  menu.addEventListener("beforetoggle", () => {
    menu.style.visibility = "hidden"; // until it has its place
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

/** What a file is called: a name that every file system takes, the step where it is of one. @param {string} file @param {Taken} taken */
function named(file, { name, step }) {
  const [kind, ending] = file.split(".");
  const part = { step: `-step-${step + 1}`, loom: `-loom-step-${step + 1}` }[kind] ?? "";
  return `gradbox-${name.replace(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "program"}${part}.${ending}`;
}

/** @param {string} svg @returns {Promise<Blob>} a PNG, twice as large where a canvas can be */
async function painted(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { naturalWidth: w, naturalHeight: h } = image;
  const k = Math.min(LARGER, SIDE / Math.max(w, h), Math.sqrt(AREA / (w * h)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(w * k);
  canvas.height = Math.round(h * k);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, lost) =>
    canvas.toBlob((blob) => (blob ? done(blob) : lost(new Error("no PNG"))), "image/png"),
  );
}

/** @param {Taken} taken @param {string} body @param {HTMLElement} root @returns {Promise<string>} */
async function offline({ opened, step, title }, body, root) {
  const [style, script] = await Promise.all(["style.css", "offline.js"].map(fetched));
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  return standalone({
    title: `Gradbox: ${title}`,
    language: root.lang,
    theme: root.dataset.theme ?? null,
    body,
    style,
    script,
    nonce,
    data: { trace: opened.trace, step, title },
  });
}

/** @param {string} name @returns {Promise<string>} a built file of this server's */
async function fetched(name) {
  const answer = await fetch(`${ROOT}/static/dist/${name}`);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.text();
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
}
