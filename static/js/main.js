/** The page: brings the parts together. The only module that knows the world. */

import { outputMessages, showOutputSummary } from "./output_diff.js";
import { createEditor } from "./editor.js";
import { liveBytes, activeModes, bytesLabel } from "./memory_totals.js";
import { startKeys } from "./keys.js";
import { captionItems } from "./caption_list.js";
import { locale } from "./locale.js";
import { createLoom } from "./loom.js";
import { messages, remarks } from "./messages.js";
import { compareOutputs } from "./outputs.js";
import { createPrinted } from "./printed.js";
import { repaired } from "./repair.js";
import { ROOT } from "./root.js";
import { startRerun } from "./rerun.js";
import { createRunning, known } from "./running.js";
import { startSaving } from "./saving.js";
import { startPaneBorder } from "./pane_border.js";
import { createSettings } from "./settings.js";
import { startSharing } from "./sharing.js";
import { createStage } from "./stage.js";
import { openTrace } from "./state.js";
import { startDownloads } from "./download.js";
import {
  outcomeSentence,
  loomLabels,
  nextRunOfLine,
  sentences,
  stageLabels,
  openingStep,
  stepHeading,
} from "./captions.js";
import { startTheme } from "./theme.js";
import { createTimeline } from "./timeline.js";
import * as unseen from "./skipped_iterations.js";
import * as url from "./url.js";
import { createViews } from "./views.js";
import { writeBefore } from "./cell_writers.js";

const SOON = 80;
const CLOSER = 1.25;
const { say } = locale(document.documentElement.lang);
/** @template {HTMLElement} T @param {string} id @returns {T} */
const part = (id) => /** @type {T} */ (document.getElementById(id));

const first = JSON.parse(part("first").textContent ?? "{}");
/** @type {import("./state.js").OpenTrace | null} */
let opened = null;
/** @type {import("./outputs.js").OutputRow[]} */
let laid = [];
/** @type {number[]} bytes alive after each step */
let bytes = [];
let step = 0;
/** @type {number | null} the step asked for by the address, until the trace is there */
let wanted = null;
let writing = 0;
/** the text that the run in flight was asked for */
let asked = "";
/** @type {string | null} what is run instead of the editor's text */
let instead = null;
/** @type {{loop: number, iteration: number[]} | null} the iteration that the run in flight is to show */
let opening = null;
/** @type {{at: number, focus: ReturnType<typeof unseen.elementsFocus>} | null} the elements that the run in flight is to show */
let looking = null;

/** @type {{source: string, focus: object} | null} what a link's program is to show besides, as long as it is that program */
let linked = null;
/** @type {string | null} what stays lit in the picture */
let selection = null;

startTheme(part("theme"));

const editor = createEditor(part("editor"), {
  source: first.source ?? "",
  label: say("program"),
  leaveHint: `Esc Tab: ${say("help_leave")}`,
  nonce: document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? "",
  onRun: () => run(),
  onChange: changed,
  onLine: toLine,
});
const stage = createStage(part("stage"), document, {
  words: stageLabels(say),
  cell: toWriter,
  elements: toElements,
  selected(key) {
    selection = key;
    address();
  },
  scaled: (k, chosen) => {
    part("scale").textContent = `${Math.round(k * 100)}%`;
    part("scale").setAttribute("aria-label", `${Math.round(k * 100)}%, ${say("whole")}`);
    part("scale").setAttribute("aria-pressed", String(chosen));
  },
});
const settings = createSettings(
  {
    seed: /** @type {HTMLInputElement} */ (part("seed")),
    device: /** @type {HTMLSelectElement | null} */ (document.getElementById("device")),
  },
  changed,
);
const loom = createLoom(part("loom"), document, {
  labels: loomLabels(say),
  go,
});
const printed = createPrinted({ pane: part("printed-box"), text: part("printed") }, say);
const views = createViews(part("views"), (name) => {
  part("stage").classList.toggle("aside", name !== "stage");
  part("loom").classList.toggle("aside", name !== "loom");
  if (opened?.count) draw();
  address();
});
part("closer").addEventListener("click", () => stage.zoom(CLOSER));
part("further").addEventListener("click", () => stage.zoom(1 / CLOSER));
part("scale").addEventListener("click", () => stage.whole());
startPaneBorder(part("border"), { least: 240, most: () => Math.max(320, innerWidth * 0.6) });
const timeline = createTimeline(
  { root: part("timeline"), slider: part("slider"), marks: part("marks"), label: part("where") },
  { go, describe, stopsAt, reducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches },
);

/** Whether the step is at a line where the reader wants to stop. @param {number} i */
function stopsAt(i) {
  return opened !== null && current() && editor.breakpoints().has(opened.trace.steps[i].line);
}

/** @param {number} i @returns {string} */
function describe(i) {
  if (!opened?.count) return say("no_steps");
  const { at, line } = stepHeading(opened.trace, i, say);
  return `${at} · ${line}`;
}

// ---- running

const { run, leave } = createRunning(
  { form: part("run-form"), result: part("run"), word: part("run-word"), stop: part("stop") },
  {
    say,
    request,
    began() {
      timeline.pause();
      problem(null);
    },
    arrived(trace) {
      arrived(trace);
      wanted = null;
      opening = null;
      looking = null;
    },
    failed(text) {
      opening = null;
      looking = null;
      problem(text);
    },
  },
);

/** What a run is asked for now. */
function request() {
  asked = editor.text();
  const source = instead ?? asked;
  instead = null;
  const focus =
    opening ?? looking?.focus ?? (linked && [source, asked, kept()].includes(linked.source) ? linked.focus : null);
  return { source, ...settings.read(), ...(focus && { focus }) };
}

/** @param {any} trace */
function arrived(trace) {
  const first = opening || looking ? opened?.trace : null;
  const at = opening ? unseen.findIteration(trace, opening) : looking ? step : -1;
  show(trace, at >= 0 ? at : wanted, editor.text() === asked);
  if (looking) stage.peek(looking.focus.storage, looking.at);
  if (opening && at < 0) problem(say("unseen_none", { turn: opening.iteration.at(-1) }));
  else if (first && !unseen.sameOutput(first, trace)) problem(say("not_repeatable"));
}

/** A sentence about the server, not the program. @param {string | null} text @param {HTMLElement[]} more what helps */
function problem(text, ...more) {
  part("problem").replaceChildren(text ?? "", ...more);
  part("problem").hidden = !text;
}

// ---- showing

/** @param {any} trace @param {number | null} at @param {boolean} [replace] */
function show(trace, at, replace = true) {
  opened = openTrace(trace);
  part("waiting").hidden = true;
  part("timeline").hidden = false;
  bytes = liveBytes(trace.steps);
  printed.open(trace.steps);
  if (replace) editor.setText(trace.program.source);
  laid = compareOutputs(trace);
  head();
  remark();
  showOutputSummary(part("outputs"), laid, say, { current: () => step, go });
  part("edited").hidden = as();
  outcome(trace);
  timeline.open(trace.steps);
  /** @type {HTMLButtonElement} */ (part("takeaway")).disabled = !opened.count;
  part("stage").hidden = !opened.count;
  part("loom").hidden = !opened.count;
  part("views").hidden = !opened.count;
  part("empty").hidden = opened.count > 0;
  part("empty").textContent = say(trace.outcome.status === "refused" ? "refused" : "no_steps");
  part("workbench").dataset.steps = String(opened.count);
  if (opened.count) go(at ?? openingStep(trace));
  else {
    editor.setStepLine(null);
    part("sentences").replaceChildren();
    timeline.show(0);
    address();
  }
}

/** What stands at the lines, while the editor shows the program that it is about. */
function remark() {
  if (opened)
    editor.setMessages(current() ? [...messages(opened.trace, say, mend), ...outputMessages(laid, say, go)] : []);
}

/** The step, in the picture that is shown. */
function draw() {
  if (!opened) return;
  if (views.current() === "loom") loom.show(opened, step);
  else stage.show(opened, step);
}

/** @param {number} i */
function go(i) {
  if (!opened?.count) return;
  step = Math.max(0, Math.min(i, opened.count - 1));
  draw();
  timeline.show(step);
  light();
  standing();
  part("sentences").replaceChildren(...captionItems(sentences(opened, step, say)));
  passed();
  printed.show(step);
  part("workbench").dataset.step = String(step);
  address();
}

/** Whether the editor shows the program that the picture is of: else lines mean nothing to each other. */
function current() {
  return opened !== null && opened.trace.program.source === editor.text();
}

function light() {
  if (!opened?.count || !current()) return editor.setStepLine(null);
  const at = opened.trace.steps[step];
  editor.setStepLine(at.line, at.kind === "raise" ? "raised" : at.kind === "visit" ? "visit" : "");
}

/** What is in force at this step, and how much is alive. */
function standing() {
  if (!opened) return;
  const chips = activeModes(opened.at(step).entities).map((name) => {
    const chip = document.createElement("span");
    chip.className = "mode";
    chip.textContent = name;
    return chip;
  });
  part("modes").replaceChildren(...chips);
  part("alive").textContent = say("alive", { size: bytesLabel(bytes[step]) });
}

/** What was left out before this step, and the way to see it. */
function passed() {
  const found = opened && current() ? unseen.gap(opened.trace, step) : null;
  part("unseen").hidden = !found;
  if (!found) return;
  const { skipped, from, to } = found;
  part("unseen-text").textContent = say(to === null ? "unseen_to_end" : from === to ? "unseen_one" : "unseen_between", {
    n: skipped,
    from,
    to,
  });
  const field = /** @type {HTMLInputElement} */ (part("unseen-at"));
  field.min = String(from);
  field.max = to === null ? "" : String(to);
  field.value = String(from);
}

part("unseen").addEventListener("submit", (event) => {
  event.preventDefault();
  const found = opened && unseen.gap(opened.trace, step);
  if (!found || !opened) return;
  opening = unseen.iterationFocus(found, Number(/** @type {HTMLInputElement} */ (part("unseen-at")).value));
  instead = kept();
  run();
});

/** Run the program with a repair made; its text comes back with the trace. @param {import("./repair.js").Repair} repair @param {string} [shape] */
function mend(repair, shape) {
  if (!opened) return;
  instead = repaired(opened.trace.program, repair, shape);
  run();
}

/** @param {any} trace */
function outcome(trace) {
  const { status, error } = trace.outcome;
  const line = part("outcome");
  line.className = `outcome ${status}`;
  part("notices").textContent = remarks(trace, say);
  if (trace.focus?.repeatable === false) problem(say("not_repeatable"));
  if (status === "raised") {
    const link = document.createElement("button");
    link.type = "button";
    link.className = "link";
    link.textContent = error.line ? say("raised_at", { line: error.line }) : error.type;
    link.addEventListener("click", () => go(error.step ?? trace.steps.length - 1));
    line.replaceChildren(
      link,
      ` ${error.line ? error.type : say("raised", { type: error.type, message: error.message.split("\n")[0] })}`,
    );
  } else line.textContent = outcomeSentence(trace, say).text;
}

/** Go to the step that made a cell what it is; from that step, to the one before. @param {string} storage @param {number} index @param {string} dtype */
function toWriter(storage, index, dtype) {
  if (!opened) return;
  const found = writeBefore(opened, storage, index, dtype, step);
  if (found >= 0) go(found);
}

/** Show elements of a big storage that the trace left out. @param {string} storage @param {number} at */
function toElements(storage, at) {
  if (!opened || !current()) return;
  looking = { at, focus: unseen.elementsFocus(storage, at, step) };
  instead = kept();
  run();
}

/** Go to where a line next ran. @param {number} line */
function toLine(line) {
  if (!opened || !current()) return;
  const found = nextRunOfLine(opened.trace.steps, line, step);
  if (found >= 0) go(found);
}

// ---- the address

/** Whether the picture is of what would be run now. */
function as() {
  return opened === null || (current() && settings.matchesTrace(opened.trace));
}

function changed() {
  head();
  part("edited").hidden = as();
  if (opened && current()) {
    remark();
    light();
  }
  address();
}

/** The program as an address keeps it: what was pasted, for that holds the article's outputs too. */
function kept() {
  return (current() && opened?.trace.program.pasted) || editor.text();
}

/** The fragment that brings this back: the step, and the program where the page's own is another one. */
async function place() {
  const at = opened === null ? wanted : opened.count && current() ? step : null;
  const focus = shownFocus();
  const more = focus ? `&focus=${encodeURIComponent(JSON.stringify(focus))}` : "";
  const said = saved() ? url.at(at) : (await url.write(kept(), at)) + settings.fragment() + more;
  return said + url.lit(at === null ? null : selection) + views.fragment();
}

/** Whether the address itself says all of the program. */
function saved() {
  return (
    first.saved &&
    ours() &&
    JSON.stringify(shownFocus()) === JSON.stringify(unseen.requestedFocus(first.saved.settings.focus)) &&
    settings.read().seed === first.saved.settings.seed &&
    settings.read().device === (document.getElementById("device") ? first.saved.settings.device : undefined)
  );
}

const heading = part("heading").textContent ?? "";
/** Title, description and note stand over their own program alone. */
function head() {
  part("workbench").classList.toggle("other", !ours());
  part("heading").textContent = ours() ? heading : say("program");
}

/** Whether the program is the one that the page came with. */
function ours() {
  return [kept(), editor.text()].includes(first.source);
}

/** Soon: a browser takes some milliseconds for it, and refuses it when it comes too often. */
function address() {
  const mine = ++writing;
  setTimeout(async () => {
    if (mine !== writing) return;
    const fragment = await place();
    if (mine === writing) history.replaceState(null, "", location.pathname + location.search + fragment);
  }, SOON);
}

async function start() {
  const place = await url.read(location.hash);
  settings.write(place.source === null ? (first.saved?.settings ?? place) : place);
  if (place.broken) problem(say("broken_link"));
  stage.select(place.selection);
  link(first.source, unseen.requestedFocus(first.saved?.settings.focus));
  if (
    place.source !== null &&
    (place.source !== first.source || !first.trace || place.focus || !settings.matchesTrace(first.trace))
  )
    return came(place);
  if (first.trace) show(first.trace, place.step);
  else if (editor.text()) run();
}

/** A program came with a link: it is shown, and run when its reader says so; a result that is there already comes at once.
 * @param {import("./url.js").AddressState} place */
async function came(place) {
  anew();
  editor.setText(place.source ?? "");
  settings.write(place);
  stage.select(place.selection);
  wanted = place.step;
  opened = null;
  editor.setMessages([]);
  editor.setStepLine(null);
  for (const id of ["sentences", "outcome", "notices"]) part(id).replaceChildren();
  printed.open([]);
  for (const id of ["edited", "outputs", "stage", "loom", "views", "timeline"]) part(id).hidden = true;
  part("waiting").hidden = false;
  part("empty").hidden = true;
  asked = editor.text();
  link(asked, place.focus);
  const trace = await known({ source: asked, ...settings.read(), ...(place.focus && { focus: place.focus }) });
  if (trace && editor.text() === asked && !opened) {
    show(trace, wanted);
    wanted = null;
  }
}

/** What goes on is not what the address asks for now. */
function anew() {
  leave();
  instead = opening = looking = null;
  problem(null);
}

/** The program that the page came with, and its trace. @param {import("./url.js").AddressState} place */
function back(place) {
  anew();
  editor.setText(first.source);
  settings.write(first.saved.settings);
  show(first.trace, place.step);
}

window.addEventListener("hashchange", async ({ newURL }) => {
  const { hash } = new URL(newURL); // what was about to be written there may have come between
  const place = await url.read(hash);
  if (place.broken) problem(say("broken_link"));
  else if (
    place.source !== null &&
    (place.source !== kept() ||
      !settings.matchesFragment(place) ||
      JSON.stringify(place.focus) !== JSON.stringify(shownFocus()))
  )
    came(place);
  else if (place.source === null && first.saved && !saved()) back(place);
  else if (place.step !== null && place.step !== step) go(place.step);
  stage.select(place.selection);
  views.read(hash);
});

part("copy").addEventListener("click", async () => {
  const button = part("copy");
  const fragment = await place();
  if (fragment.length > url.LONGEST)
    return problem(say("link_long", { n: fragment.length, most: url.LONGEST }), saveLink());
  try {
    await navigator.clipboard.writeText(location.origin + location.pathname + fragment);
  } catch {
    return problem(say("not_copied"));
  }
  button.dataset.done = "true";
  button.setAttribute("aria-label", say("copied"));
  setTimeout(() => {
    delete button.dataset.done;
    button.setAttribute("aria-label", say("copy_link"));
  }, 1500);
});

startSaving(
  { button: part("save"), sheet: part("saving") },
  {
    say,
    content() {
      const parent = first.saved && (saved() ? first.saved.parent : first.saved.id);
      return {
        source: kept(),
        language: document.documentElement.lang,
        settings: { ...settings.read(), ...(shownFocus() && { focus: shownFocus() }) },
        ...(parent && { parent }),
      };
    },
    initial: () =>
      first.saved
        ? { title: first.saved.title, description: first.saved.description, note: first.saved.note }
        : { title: called({ source: editor.text() }).title },
    onSaved: (id) =>
      location.assign(
        `${ROOT}/s/${id}?lang=${document.documentElement.lang}${url.at(opened?.count && current() ? step : null)}`,
      ),
  },
);

/** A program came with what it is to show besides. @param {string} source @param {object | null} focus */
function link(source, focus) {
  linked = focus && { source, focus };
}

/** What the run was asked to show, where it was asked for something; where nothing is shown yet, what it will be asked. */
function shownFocus() {
  if (!opened) return linked?.source === editor.text() ? linked.focus : null;
  return as() ? unseen.requestedFocus(opened.trace.focus) : null;
}

/** A button that saves. */
function saveLink() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = say("save");
  button.addEventListener("click", () => part("save").click());
  return button;
}

startSharing(
  part("takeaway-menu"),
  () =>
    saved() && as()
      ? {
          url: new URL(first.saved.url, location.href).href,
          title: first.saved.title,
          step,
          fragment: url.at(step) + views.fragment(),
        }
      : null,
  {
    copied: (name) => {
      part("where").textContent = `${name}: ${say("copied")}`;
    },
    failed: () => problem(say("not_copied")),
  },
);

if (first.saved)
  startRerun(
    { button: /** @type {HTMLButtonElement} */ (part("rerun")), status: part("rerun-told") },
    say,
    first.saved.id,
  );

startDownloads(
  { button: part("takeaway"), menu: part("takeaway-menu"), body: /** @type {HTMLTemplateElement} */ (part("offline")) },
  () => (opened?.count ? { opened, plan: stage.plan(opened), step, ...called(opened.trace.program) } : null),
  () => problem(say("take_failed")),
);

/** What a program's files are called: the scenario it is, else the first thing it does. @param {any} program */
function called({ source, pasted }) {
  const { scenario, saved, title } = part("workbench").dataset;
  const name = scenario ?? saved;
  if (name && title && [source, pasted].includes(first.source)) return { name, title };
  const lines = source.split("\n").map((/** @type {string} */ line) => line.trim());
  return {
    name: "program",
    title: lines.find((/** @type {string} */ line) => line && !/^(import|from|#)\b|^#/.test(line)) ?? "",
  };
}

startKeys(
  editor,
  {
    "?": () => help.showModal(),
    b: () => opened?.count && current() && editor.toggleBreakpoint(opened.trace.steps[step].line),
    "+": () => stage.zoom(CLOSER),
    "=": () => stage.zoom(CLOSER),
    "-": () => stage.zoom(1 / CLOSER),
    0: () => stage.whole(),
    l: () => views.toggle(),
  },
  { run, key: timeline.key },
);

const help = /** @type {HTMLDialogElement} */ (part("help"));
part("help-button").addEventListener("click", () => help.showModal());
help.addEventListener("click", (event) => {
  if (event.target === help) help.close(); // beside the sheet
});

for (const link of document.querySelectorAll("a[data-keep]"))
  link.addEventListener("click", () => {
    /** @type {HTMLAnchorElement} */ (link).hash = location.hash;
  });

window.addEventListener("beforeprint", () => opened && loom.print(opened));
window.addEventListener("afterprint", () => loom.clearPrint());

views.start();
start();
