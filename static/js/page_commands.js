/** The commands of the page: of the program, the steps, the picture, the files and the other pages. */

import { isRunning } from "./page_selectors.js";

/** @typedef {import("./commands.js").Command} Command */
/** @typedef {ReturnType<typeof import("./program_pane.js").createProgramPane>} ProgramPane */
/** @typedef {ReturnType<typeof import("./picture_pane.js").createPicturePane>} PicturePane */

const DOWNLOADS = ["step.svg", "step.png", "loom.svg", "loom.png", "run.html"];

/** The moves of the timeline, with their keys. @type {[string, string][]} */
const MOVES = [
  ["next", "ArrowRight"],
  ["previous", "ArrowLeft"],
  ["over", "Shift+ArrowRight"],
  ["over_back", "Shift+ArrowLeft"],
  ["out", "o"],
  ["first", "Home"],
  ["last", "End"],
  ["next_mark", "n"],
  ["previous_mark", "p"],
];

/**
 * @typedef {object} Parts
 * @property {<T extends HTMLElement>(id: string) => T} element an element of the page, by its id
 * @property {() => import("./page_state.js").PageState} state
 * @property {ProgramPane} program
 * @property {PicturePane} picture
 * @property {() => void} openPalette
 */

/** @param {Parts} parts @returns {Command[]} in the order of the palette */
export function pageCommands(parts) {
  return [...programCommands(parts), ...stepCommands(parts), ...pictureCommands(parts), ...otherCommands(parts)];
}

/** A command that is the click on an element, while that is there, shown and not disabled. @param {string} id
 * @param {() => HTMLElement | null} find @param {Partial<Command>} [options] @returns {Command} */
function click(id, find, options = {}) {
  const available = () => {
    const found = find();
    return found !== null && !found.matches(":disabled, [hidden]") && (options.available?.() ?? true);
  };
  return { id, ...options, available, run: () => find()?.click() };
}

/** @param {Parts} parts @returns {Command[]} */
function programCommands({ element, state, program }) {
  const { editor } = program;
  const isText = () => !program.cards.areShown(); // cards have their own commands, which run the program too
  const live = () => /** @type {HTMLInputElement | null} */ (document.querySelector("#live"));
  return [
    { id: "run", keys: ["Mod+Enter"], run: program.run },
    click("stop", () => element("stop"), { available: () => isRunning(state()) }),
    { id: "as_cards", keys: ["Mod+e"], available: () => !program.cards.areShown(), run: program.cards.toggle },
    { id: "as_text", keys: ["Mod+e"], available: () => program.cards.areShown(), run: program.cards.toggle },
    click("live_on", live, { available: () => !state().isLive }),
    click("live_off", live, { available: () => state().isLive }),
    { id: "undo", keys: ["Mod+z"], isEditorKey: true, available: () => isText() && editor.canUndo(), run: editor.undo },
    {
      id: "redo",
      keys: ["Mod+Shift+z"],
      isEditorKey: true,
      available: () => isText() && editor.canRedo(),
      run: editor.redo,
    },
    click("save", () => element("save")),
    click("draft", () => element("kept-show"), { available: () => !element("kept").hidden }),
  ];
}

/** @param {Parts} parts @returns {Command[]} */
function stepCommands({ element, state, program, picture: { timeline } }) {
  const hasSteps = () => Boolean(state().opened?.count);
  const isPlaying = () => timeline.isPlaying();
  const moves = MOVES.map(([id, keys]) => {
    const [key, shift] = keys.startsWith("Shift+") ? [keys.slice(6), true] : [keys, false];
    const available = () => timeline.canMove(key, shift) || isPlaying(); // each move ends the playing
    return { id, keys: [keys], available, run: () => timeline.key(key, shift) };
  });
  return [
    ...moves,
    { id: "play", keys: [" "], available: () => hasSteps() && !isPlaying(), run: timeline.toggle },
    { id: "pause", keys: [" "], available: isPlaying, run: timeline.toggle },
    { id: "breakpoint", keys: ["b"], available: program.canStop, run: program.toggleBreakpoint },
    click("copy_link", () => element("copy")),
  ];
}

/** @param {Parts} parts @returns {Command[]} */
function pictureCommands({ element, state, picture: { shortcuts, canAsk } }) {
  const hasSteps = () => Boolean(state().opened?.count);
  const isStage = () => hasSteps() && state().view === "stage";
  const downloads = DOWNLOADS.map((file) =>
    click(`take_${file.replace(".", "_")}`, () => document.querySelector(`[data-take="${file}"]`), {
      available: hasSteps,
    }),
  );
  return [
    { id: "loom", keys: ["l"], available: isStage, run: shortcuts.l },
    { id: "stage", keys: ["l"], available: () => hasSteps() && !isStage(), run: shortcuts.l },
    { id: "closer", keys: ["+", "="], available: isStage, run: shortcuts["+"] },
    { id: "further", keys: ["-"], available: isStage, run: shortcuts["-"] },
    { id: "fit", keys: ["0"], available: isStage, run: shortcuts[0] },
    { id: "finding", keys: ["e"], available: () => !element("findings").hidden, run: shortcuts.e },
    click("predict_on", () => element("predict-button"), { keys: ["q"], available: () => !state().predict }),
    click("predict_off", () => element("predict-button"), { keys: ["q"], available: () => Boolean(state().predict) }),
    { id: "why", keys: ["w"], available: () => hasSteps() && canAsk(), run: shortcuts.w },
    ...downloads,
  ];
}

/** @param {Parts} parts @returns {Command[]} */
function otherCommands({ element, openPalette }) {
  /** @param {string} selector @returns {() => HTMLElement | null} */
  const find = (selector) => () => document.querySelector(selector);
  return [
    click("open_file", () => element("open-file")),
    click("theme", () => element("theme")),
    click("language", find("a[data-keep]")),
    click("help", () => element("help-button"), { keys: ["?"] }),
    click("compare", find("a[data-compare]")),
    click("matrix", find("a[data-page=matrix]")),
    click("gallery", find("a[data-page=gallery]")),
    { id: "palette", keys: ["Mod+k"], available: () => !document.querySelector("dialog[open]"), run: openPalette },
  ];
}
