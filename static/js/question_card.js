/** The answer to what a reader asks of a tensor: a card over the findings, and the button on the stage that asks. */

import { codeNodes, codeParagraph, element } from "./elements.js";
import { roleIcon, severityIcon } from "./finding_icons.js";
import { causeIndex } from "./findings_card.js";
import { gradientCheckPanel } from "./gradient_check_panel.js";
import { placeClass, shortPlace } from "./program_files.js";

/** Where the page puts its parts under each other. */
const NARROW_SCREEN = "(max-width: 860px)";

/** @typedef {import("./state.js").OpenTrace} OpenTrace */
/** @typedef {import("./findings/finding.js").Link} Link */
/** @typedef {import("./findings/tensor_question.js").Answer} Answer */
/** @typedef {import("./findings_card.js").ChainMark} ChainMark */
/** @typedef {import("./findings_card.js").Surface} Surface */
/** @typedef {{uid: string, step: number}} Question */
/** @typedef {{steps: number[], uids: string[], element: HTMLElement}} AnswerLink */

/**
 * @param {{card: HTMLElement, stage: HTMLElement}} hosts where the answer and the button that asks are put
 * @param {import("./locale.js").Locale["say"]} say
 * @param {{load: import("./findings_card.js").LoadFindings, go: (step: number) => void, light: (uids: string[]) => void,
 *   mark: (marks: ChainMark[] | null) => void, ask: (uid: string) => void, close: () => void,
 *   check?: import("./gradient_check.js").CheckGradients}} how
 *   go: to a step; light: entities, none for nothing; mark: the lines of the answer, null where there is none; ask, close:
 *   the reader asks about a tensor, or has read the answer; check: how gradients are checked, where there is a server to
 *   run them
 */
export function createQuestionCard({ card, stage }, say, { load, go, light, mark, ask, close, check }) {
  /** @type {Surface | null} */
  let surface = null;
  /** the sentences of findings, once they are there @type {import("./locale.js").Locale["say"] | null} */
  let sayFinding = null;
  /** @type {{opened: OpenTrace, facts: import("./findings/run_facts.js").RunFacts} | null} */
  let known = null;
  /** @type {{element: HTMLElement, step: number}[]} the links of the answer */
  let links = [];
  let shownStep = -1;
  /** What the button would ask about. @type {string | null} */
  let offered = null;
  let offers = 0;
  let shows = 0;
  /** What had the focus when the reader asked. @type {Element | null} */
  let asker = null;

  const button = /** @type {HTMLButtonElement} */ (element("button", "ask quiet"));
  button.type = "button";
  button.hidden = true;
  button.addEventListener("click", () => offered && ask(offered));
  stage.append(button);

  /** @param {OpenTrace} opened */
  async function factsOf(opened) {
    surface ??= await load().catch(() => null); // offline, or the server has a newer page
    if (surface) sayFinding ??= await surface.sentences().catch(() => null);
    if (surface && known?.opened !== opened) known = { opened, facts: new surface.RunFacts(opened) };
    return surface && known && known.opened === opened ? { surface, facts: known.facts } : null;
  }

  const words = () => sayFinding ?? say;

  /** Offer to ask about what is selected. @param {OpenTrace | null} opened @param {string | null} selection @param {number} step */
  async function offer(opened, selection, step) {
    offered = null;
    const offering = ++offers;
    if (!opened?.count || !selection) {
      button.hidden = true;
      return;
    }
    const ready = await factsOf(opened);
    if (offering !== offers) return;
    const uid = ready?.surface.selectedTensor(opened, selection, step) ?? null;
    button.hidden = !ready || !uid;
    if (!ready || !uid) return;
    offered = uid;
    const question = ready.surface.questionText(ready.facts, uid, step, words());
    button.replaceChildren(...codeNodes(question), " ", element("kbd", "", "w"));
  }

  /** @param {OpenTrace | null} opened @param {Question | null} question */
  async function show(opened, question) {
    links = [];
    light([]);
    const showing = ++shows;
    const ready = opened && question ? await factsOf(opened) : null;
    if (showing !== shows) return;
    if (!ready || !opened || !question) {
      if (!card.hidden) mark(null);
      card.hidden = true;
      card.replaceChildren();
      return;
    }
    const answer = ready.surface.answerOf(ready.facts, question.uid, question.step);
    if (!card.contains(document.activeElement)) asker = document.activeElement;
    card.hidden = false;
    card.replaceChildren(articleOf(answer, opened, ready.surface.answerText(answer, words())));
    mark(marksOf(answer));
    showStep(shownStep);
    const heading = /** @type {HTMLElement | null} */ (card.querySelector("h3"));
    heading?.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  /** @param {Answer} answer @param {OpenTrace} opened @param {import("./findings/text.js").AnswerText} text */
  function articleOf(answer, opened, text) {
    const article = element("article", "finding open answer");
    article.dataset.question = answer.question;
    const head = element("h3", "answer-head");
    head.tabIndex = -1;
    const kicker = element("span", "finding-kicker");
    kicker.append(...codeNodes(text.title));
    const sentence = element("span", "finding-sentence");
    sentence.append(...codeNodes(text.what));
    head.append(severityIcon("note"), kicker, sentence);
    const away = /** @type {HTMLButtonElement} */ (element("button", "answer-close quiet", "✕"));
    away.type = "button";
    away.title = away.ariaLabel = say("answer_close");
    away.addEventListener("click", leave);
    article.append(head, away);
    if (text.why) article.append(codeParagraph("finding-why", text.why));
    article.append(...listOf(answer, text));
    if (text.todo) article.append(codeParagraph("finding-todo", text.todo));
    article.append(...checkOf(answer, opened));
    return article;
  }

  /** Where the gradients of the last backward can be checked. @param {Answer} answer @param {OpenTrace} opened @returns {HTMLElement[]} */
  function checkOf({ uid, step }, opened) {
    if (!check || !surface || known?.opened !== opened) return [];
    const { facts } = known;
    const { checkableBackward, resolve } = surface;
    const backward = checkableBackward(facts, step);
    if (!backward) return [];
    const name = facts.nameFact(uid, step);
    const lightLeaf = (/** @type {string | null} */ path) => {
      const leafUid = path && resolve(facts, path, step);
      light(leafUid ? [leafUid] : []);
    };
    const asked = typeof name === "object" && "code" in name ? name.code : "";
    return [gradientCheckPanel({ opened, backward: backward.number, asked, say: words(), check, light: lightLeaf })];
  }

  /** @param {Answer} answer @param {import("./findings/text.js").AnswerText} text */
  function listOf({ rows, finding }, text) {
    const list = element("ol", "finding-chain");
    list.setAttribute("aria-label", say("answer_ways"));
    const chain = finding?.chain ?? [];
    const cause = finding ? causeIndex(finding) : -1;
    list.append(...rows.map((row, k) => rowOf({ ...row, text: text.rows[k] })));
    if (!rows.length)
      list.append(
        ...chain.map((link, k) =>
          rowOf({ ...link, text: text.chain[k], depth: 0, source: null, isCause: k === cause }),
        ),
      );
    return list.children.length ? [list] : [];
  }

  /** @param {Pick<Link, "role" | "line" | "step" | "uids"> & {text: string, depth: number, source: import("./findings/finding.js").Place | null, isCause?: boolean}} row */
  function rowOf({ role, line, step, uids, text, depth, source, isCause = false }) {
    const item = element("li", "answer-row");
    item.style.setProperty("--depth", String(depth));
    const className = placeClass("answer-line finding-line", line);
    const number = link(shortPlace(line), className, source?.step ?? step, uids);
    number.ariaLabel = say("answer_line", { line });
    const way = link("", "finding-link", step, uids);
    const sentence = element("span", "");
    sentence.append(...codeNodes(text));
    way.classList.toggle("cause", isCause);
    if (isCause) sentence.append(" ", element("b", "finding-cause", say("finding_cause")));
    way.append(sentence);
    item.append(roleIcon(role), number, way);
    return item;
  }

  /** @param {string} text @param {string} className @param {number} step @param {string[]} uids */
  function link(text, className, step, uids) {
    const made = /** @type {HTMLButtonElement} */ (element("button", className, text));
    made.type = "button";
    made.addEventListener("click", () => {
      go(step);
      if (matchMedia(NARROW_SCREEN).matches) stage.scrollIntoView({ block: "nearest" }); // there the card stands below it
    });
    for (const type of ["pointerenter", "focus"]) made.addEventListener(type, () => light(uids));
    for (const type of ["pointerleave", "blur"]) made.addEventListener(type, () => light([]));
    links.push({ element: made, step });
    return made;
  }

  /** @param {number} step that is shown */
  function showStep(step) {
    shownStep = step;
    for (const { element, step: at } of links) {
      if (at === step && element.classList.contains("finding-link")) element.setAttribute("aria-current", "step");
      else element.removeAttribute("aria-current");
    }
  }

  function leave() {
    close();
    if (asker instanceof HTMLElement || asker instanceof SVGElement) asker.focus({ preventScroll: true });
  }

  card.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });

  return {
    offer,
    show,
    showStep,
    /** Whether something is selected, or has the focus, that may be asked about. */
    canAsk: () => Boolean(offered) || focusedKey(stage) !== null,
    /** Ask about what is selected, or else what has the focus. @param {OpenTrace | null} opened @param {number} step */
    async askFocused(opened, step) {
      if (offered) return ask(offered);
      const ready = opened?.count ? await factsOf(opened) : null;
      const key = focusedKey(stage);
      const uid = ready && opened && key ? ready.surface.selectedTensor(opened, key, step) : null;
      if (uid) ask(uid);
    },
  };
}

/** The drawn thing that has the focus or the pointer, as a selection says it. @param {HTMLElement} stage */
function focusedKey(stage) {
  const within = document.activeElement && stage.contains(document.activeElement) ? document.activeElement : null;
  const target =
    within ?? [...stage.querySelectorAll("[data-handle]:hover, [data-ref]:hover, [data-node]:hover")].at(-1);
  for (const name of ["handle", "ref", "node"]) {
    const found = target?.closest(`[data-${name}]`)?.getAttribute(`data-${name}`);
    if (found) return `${name}:${found}`;
  }
  return null;
}

/** The lines for editor and timeline: of a gradient its own parts, else the chain that says why there is none.
 * @param {Answer} answer @returns {ChainMark[]} */
function marksOf({ rows, finding }) {
  if (!rows.length)
    return (finding?.chain ?? []).map(({ line, step, role }) => ({
      line,
      step,
      role,
      isCause: step === finding?.cause.step,
    }));
  const own = rows.filter((row) => row.own || row.role === "gradient" || row.role === "written");
  return own.map(({ line, step, role }) => ({ line, step, role, isCause: false }));
}
