/** The answer to what a reader asks of a tensor: a card over the findings, and the button on the stage that asks. */

import { codeNodes, codeParagraph, element } from "../browser/elements.js";
import { roleIcon, severityIcon } from "./finding_icons.js";
import { causeIndex } from "./findings_card.js";
import { gradientCheckPanel } from "./gradient_check_panel.js";
import { lineNameClass, shortLineName } from "../trace/program_files.js";

/** Where the page puts its parts under each other. */
const NARROW_SCREEN = "(max-width: 860px)";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../findings/finding.js").Link} Link */
/** @typedef {import("../findings/tensor_question.js").Answer} Answer */
/** @typedef {import("./findings_card.js").ChainMark} ChainMark */
/** @typedef {import("./findings_card.js").FindingsApi} Surface */
/** @typedef {{uid: string, step: number}} Question */
/** @typedef {{steps: number[], uids: string[], element: HTMLElement}} AnswerLink */

/**
 * @param {{card: HTMLElement, stage: HTMLElement}} hosts where the answer and the button that asks are put
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {{load: import("./findings_card.js").LoadFindings, go: (step: number) => void, light: (uids: string[]) => void,
 *   mark: (marks: ChainMark[] | null) => void, ask: (uid: string) => void, close: () => void,
 *   check?: import("../requests/gradient_check.js").CheckGradients}} how
 *   go: to a step; light: entities, none for nothing; mark: the lines of the answer, null where there is none; ask, close:
 *   the reader asks about a tensor, or has read the answer; check: how gradients are checked, where there is a server to
 *   run them
 */
export function createQuestionCard(
  { card, stage },
  say,
  { load, go, light: lightUids, mark: markChain, ask, close, check: checkGradients },
) {
  /** @type {Surface | null} */
  let findingsApi = null;
  /** the sentences of findings, once they are there @type {import("../words/locale.js").Locale["say"] | null} */
  let sayFinding = null;
  /** @type {{opened: OpenTrace, facts: import("../findings/run_facts.js").RunFacts} | null} */
  let factsOfRun = null;
  /** @type {{element: HTMLElement, step: number}[]} the links of the answer */
  let answerLinks = [];
  let shownStep = -1;
  /** What the button would ask about. @type {string | null} */
  let offeredUid = null;
  let offerCount = 0;
  let showCount = 0;
  /** What had the focus when the reader asked. @type {Element | null} */
  let focusBefore = null;

  const button = /** @type {HTMLButtonElement} */ (element("button", "ask quiet"));
  button.type = "button";
  button.hidden = true;
  button.addEventListener("click", () => offeredUid && ask(offeredUid));
  stage.append(button);

  /** @param {OpenTrace} opened */
  async function factsOf(opened) {
    findingsApi ??= await load().catch(() => null); // offline, or the server has a newer page
    if (findingsApi) sayFinding ??= await findingsApi.sentences().catch(() => null);
    if (findingsApi && factsOfRun?.opened !== opened) factsOfRun = { opened, facts: new findingsApi.RunFacts(opened) };
    return findingsApi && factsOfRun && factsOfRun.opened === opened
      ? { surface: findingsApi, facts: factsOfRun.facts }
      : null;
  }

  const sayText = () => sayFinding ?? say;

  /** Offer to ask about what is selected. @param {OpenTrace | null} opened @param {string | null} selection @param {number} step */
  async function offer(opened, selection, step) {
    offeredUid = null;
    const offerId = ++offerCount;
    if (!opened?.count || !selection) {
      button.hidden = true;
      return;
    }
    const loaded = await factsOf(opened);
    if (offerId !== offerCount) return;
    const uid = loaded?.surface.selectedTensor(opened, selection, step) ?? null;
    button.hidden = !loaded || !uid;
    if (!loaded || !uid) return;
    offeredUid = uid;
    const question = loaded.surface.questionText(loaded.facts, uid, step, sayText());
    button.replaceChildren(...codeNodes(question), " ", element("kbd", "", "w"));
  }

  /** @param {OpenTrace | null} opened @param {Question | null} question */
  async function show(opened, question) {
    answerLinks = [];
    lightUids([]);
    const showId = ++showCount;
    const loaded = opened && question ? await factsOf(opened) : null;
    if (showId !== showCount) return;
    if (!loaded || !opened || !question) {
      if (!card.hidden) markChain(null);
      card.hidden = true;
      card.replaceChildren();
      return;
    }
    const answer = loaded.surface.answerOf(loaded.facts, question.uid, question.step);
    if (!card.contains(document.activeElement)) focusBefore = document.activeElement;
    card.hidden = false;
    card.replaceChildren(articleElement(answer, opened, loaded.surface.answerText(answer, sayText())));
    markChain(answerMarks(answer));
    showStep(shownStep);
    const heading = /** @type {HTMLElement | null} */ (card.querySelector("h3"));
    heading?.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  /** @param {Answer} answer @param {OpenTrace} opened @param {import("../findings/text.js").AnswerText} text */
  function articleElement(answer, opened, text) {
    const article = element("article", "finding open answer");
    article.dataset.question = answer.question;
    const head = element("h3", "answer-head");
    head.tabIndex = -1;
    const kicker = element("span", "finding-kicker");
    kicker.append(...codeNodes(text.title));
    const sentence = element("span", "finding-sentence");
    sentence.append(...codeNodes(text.what));
    head.append(severityIcon("note"), kicker, sentence);
    const closeButton = /** @type {HTMLButtonElement} */ (element("button", "answer-close quiet", "✕"));
    closeButton.type = "button";
    closeButton.title = closeButton.ariaLabel = say("answer_close");
    closeButton.addEventListener("click", leave);
    article.append(head, closeButton);
    if (text.why) article.append(codeParagraph("finding-why", text.why));
    article.append(...chainElements(answer, text));
    if (text.todo) article.append(codeParagraph("finding-todo", text.todo));
    article.append(...checkPanels(answer, opened));
    return article;
  }

  /** Where the gradients of the last backward can be checked. @param {Answer} answer @param {OpenTrace} opened @returns {HTMLElement[]} */
  function checkPanels({ uid, step }, opened) {
    if (!checkGradients || !findingsApi || factsOfRun?.opened !== opened) return [];
    const { facts } = factsOfRun;
    const { checkableBackward, resolve } = findingsApi;
    const backward = checkableBackward(facts, step);
    if (!backward) return [];
    const name = facts.nameFact(uid, step);
    const lightLeaf = (/** @type {string | null} */ path) => {
      const leafUid = path && resolve(facts, path, step);
      lightUids(leafUid ? [leafUid] : []);
    };
    const askedName = typeof name === "object" && "code" in name ? name.code : "";
    return [
      gradientCheckPanel({
        opened,
        backward: backward.number,
        asked: askedName,
        say: sayText(),
        check: checkGradients,
        light: lightLeaf,
      }),
    ];
  }

  /** @param {Answer} answer @param {import("../findings/text.js").AnswerText} text */
  function chainElements({ rows, finding }, text) {
    const list = element("ol", "finding-chain");
    list.setAttribute("aria-label", say("answer_ways"));
    const chain = finding?.chain ?? [];
    const cause = finding ? causeIndex(finding) : -1;
    list.append(...rows.map((row, k) => rowElement({ ...row, text: text.rows[k] })));
    if (!rows.length)
      list.append(
        ...chain.map((link, k) =>
          rowElement({ ...link, text: text.chain[k], depth: 0, source: null, isCause: k === cause }),
        ),
      );
    return list.children.length ? [list] : [];
  }

  /** @param {Pick<Link, "role" | "line" | "step" | "uids"> & {text: string, depth: number, source: import("../findings/finding.js").Place | null, isCause?: boolean}} row */
  function rowElement({ role, line, step, uids, text, depth, source, isCause = false }) {
    const item = element("li", "answer-row");
    item.style.setProperty("--depth", String(depth));
    const className = lineNameClass("answer-line finding-line", line);
    const lineButton = linkButton(shortLineName(line), className, source?.step ?? step, uids);
    lineButton.ariaLabel = say("answer_line", { line });
    const sentenceButton = linkButton("", "finding-link", step, uids);
    const sentence = element("span", "");
    sentence.append(...codeNodes(text));
    sentenceButton.classList.toggle("cause", isCause);
    if (isCause) sentence.append(" ", element("b", "finding-cause", say("finding_cause")));
    sentenceButton.append(sentence);
    item.append(roleIcon(role), lineButton, sentenceButton);
    return item;
  }

  /** @param {string} text @param {string} className @param {number} step @param {string[]} uids */
  function linkButton(text, className, step, uids) {
    const made = /** @type {HTMLButtonElement} */ (element("button", className, text));
    made.type = "button";
    made.addEventListener("click", () => {
      go(step);
      if (matchMedia(NARROW_SCREEN).matches) stage.scrollIntoView({ block: "nearest" }); // there the card stands below it
    });
    for (const type of ["pointerenter", "focus"]) made.addEventListener(type, () => lightUids(uids));
    for (const type of ["pointerleave", "blur"]) made.addEventListener(type, () => lightUids([]));
    answerLinks.push({ element: made, step });
    return made;
  }

  /** @param {number} step that is shown */
  function showStep(step) {
    shownStep = step;
    for (const { element, step: linkStep } of answerLinks) {
      if (linkStep === step && element.classList.contains("finding-link")) element.setAttribute("aria-current", "step");
      else element.removeAttribute("aria-current");
    }
  }

  function leave() {
    close();
    if (focusBefore instanceof HTMLElement || focusBefore instanceof SVGElement)
      focusBefore.focus({ preventScroll: true });
  }

  card.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });

  return {
    offer,
    show,
    showStep,
    /** Whether something is selected, or has the focus, that may be asked about. */
    canAsk: () => Boolean(offeredUid) || focusedKey(stage) !== null,
    /** Ask about what is selected, or else what has the focus. @param {OpenTrace | null} opened @param {number} step */
    async askFocused(opened, step) {
      if (offeredUid) return ask(offeredUid);
      const loaded = opened?.count ? await factsOf(opened) : null;
      const key = focusedKey(stage);
      const uid = loaded && opened && key ? loaded.surface.selectedTensor(opened, key, step) : null;
      if (uid) ask(uid);
    },
  };
}

/** The drawn thing that has the focus or the pointer, as a selection says it. @param {HTMLElement} stage */
function focusedKey(stage) {
  const focused = document.activeElement && stage.contains(document.activeElement) ? document.activeElement : null;
  const target =
    focused ?? [...stage.querySelectorAll("[data-handle]:hover, [data-ref]:hover, [data-node]:hover")].at(-1);
  for (const name of ["handle", "ref", "node"]) {
    const uid = target?.closest(`[data-${name}]`)?.getAttribute(`data-${name}`);
    if (uid) return `${name}:${uid}`;
  }
  return null;
}

/** The lines for editor and timeline: of a gradient its own parts, else the chain that says why there is none.
 * @param {Answer} answer @returns {ChainMark[]} */
function answerMarks({ rows, finding }) {
  if (!rows.length)
    return (finding?.chain ?? []).map(({ line, step, role }) => ({
      line,
      step,
      role,
      isCause: step === finding?.cause.step,
    }));
  const ownRows = rows.filter((row) => row.own || row.role === "gradient" || row.role === "written");
  return ownRows.map(({ line, step, role }) => ({ line, step, role, isCause: false }));
}
