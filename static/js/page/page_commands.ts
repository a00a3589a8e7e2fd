/** The commands of the page: of the program, the steps, the picture, the files and the other pages. */

import { createCommandRegistry, type Command } from "../browser/commands.ts";
import { startKeyboardShortcuts } from "../browser/keys.ts";
import { lazyPaletteOpener } from "../command_palette/loader.ts";
import { isRunning, shownPicture } from "../page_state/selectors.ts";
import type { PageHost } from "./page_host.ts";
import type { createPicturePane } from "./picture/picture_pane.ts";
import type { createProgramPane } from "./program/program_pane.ts";

type ProgramPane = ReturnType<typeof createProgramPane>;
type PicturePane = ReturnType<typeof createPicturePane>;

const DOWNLOADS = ["step.svg", "step.png", "loom.svg", "loom.png", "run.html", "tables.csv"];

/** The moves of the timeline, with their keys. */
const STEP_MOVES: [string, string][] = [
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

interface PageParts extends Pick<PageHost, "elementById" | "state"> {
  program: ProgramPane;
  picture: PicturePane;
  openPalette: () => void;
}

/** Gives the commands to keys, to the palette, and to the dialog of help, which leads to the palette. */
export function startCommands(host: PageHost, program: ProgramPane, picture: PicturePane) {
  const { elementById, state, dispatch } = host;
  const openPalette = lazyPaletteOpener({ available: () => registry.available() }, program, { state, dispatch });
  const registry = createCommandRegistry(pageCommands({ elementById, state, program, picture, openPalette }));
  const pressWithControl = (name: string) => registry.press(`Mod+${name}`);
  startKeyboardShortcuts(
    program,
    {},
    { run: () => pressWithControl("Enter"), key: registry.press, letter: pressWithControl },
  );

  const helpDialog = elementById<HTMLDialogElement>("help");
  elementById("help-button").addEventListener("click", () => helpDialog.showModal());
  helpDialog.addEventListener("click", (event) => {
    if (event.target === helpDialog) helpDialog.close(); // on the backdrop
  });
  for (const button of document.querySelectorAll("[data-commands]"))
    button.addEventListener("click", () => {
      helpDialog.close();
      openPalette();
    });
}

/** The commands in the order of the palette. */
export function pageCommands(parts: PageParts): Command[] {
  return [...programCommands(parts), ...stepCommands(parts), ...pictureCommands(parts), ...otherCommands(parts)];
}

/** A command that is the click on an element, while that is there, shown and not disabled. */
function clickCommand(id: string, findElement: () => HTMLElement | null, options: Partial<Command> = {}): Command {
  const available = () => {
    const found = findElement();
    return found !== null && !found.matches(":disabled, [hidden]") && (options.available?.() ?? true);
  };
  return { id, ...options, available, run: () => findElement()?.click() };
}

function programCommands({ elementById, state, program }: PageParts): Command[] {
  const { editor } = program;
  const showsText = () => !program.cards.areShown(); // cards have their own commands, which run the program too
  const liveToggle = () => document.querySelector("#live") as HTMLInputElement | null;
  return [
    { id: "run", keys: ["Mod+Enter"], run: program.run },
    clickCommand("stop", () => elementById("stop"), { available: () => isRunning(state()) }),
    { id: "as_cards", keys: ["Mod+e"], available: () => !program.cards.areShown(), run: program.cards.toggle },
    { id: "as_text", keys: ["Mod+e"], available: () => program.cards.areShown(), run: program.cards.toggle },
    clickCommand("live_on", liveToggle, { available: () => !state().isLive }),
    clickCommand("live_off", liveToggle, { available: () => state().isLive }),
    {
      id: "undo",
      keys: ["Mod+z"],
      isEditorKey: true,
      available: () => showsText() && editor.canUndo(),
      run: editor.undo,
    },
    {
      id: "redo",
      keys: ["Mod+Shift+z"],
      isEditorKey: true,
      available: () => showsText() && editor.canRedo(),
      run: editor.redo,
    },
    clickCommand("save", () => elementById("save")),
    clickCommand("draft", () => elementById("kept-show"), { available: () => !elementById("kept").hidden }),
  ];
}

function stepCommands({ elementById, state, program, picture: { timeline } }: PageParts): Command[] {
  const hasSteps = () => Boolean(state().opened?.count);
  const isPlaying = () => timeline.isPlaying();
  const moves = STEP_MOVES.map(([id, keys]) => {
    const [key, shift] = keys.startsWith("Shift+") ? [keys.slice(6), true] : [keys, false];
    const available = () => timeline.canMove(key, shift) || isPlaying(); // each move ends the playing
    return { id, keys: [keys], available, run: () => timeline.key(key, shift) };
  });
  return [
    ...moves,
    { id: "play", keys: [" "], available: () => hasSteps() && !isPlaying(), run: timeline.toggle },
    { id: "pause", keys: [" "], available: isPlaying, run: timeline.toggle },
    { id: "breakpoint", keys: ["b"], available: program.canStop, run: program.toggleBreakpoint },
    clickCommand("copy_link", () => elementById("copy")),
  ];
}

function pictureCommands({ elementById, state, picture: { shortcuts, canAsk } }: PageParts): Command[] {
  const hasSteps = () => Boolean(state().opened?.count);
  const isStage = () => hasSteps() && shownPicture(state()) === "stage";
  const downloads = DOWNLOADS.map((file) =>
    clickCommand(`take_${file.replace(".", "_")}`, () => document.querySelector(`[data-take="${file}"]`), {
      available: hasSteps,
    }),
  );
  return [
    { id: "run_view", keys: ["l"], available: () => hasSteps() && state().view === "step", run: shortcuts.l },
    { id: "step_view", keys: ["l"], available: () => hasSteps() && state().view !== "step", run: shortcuts.l },
    clickCommand("by_storage", () => elementById("by-storage")),
    { id: "closer", keys: ["+", "="], available: isStage, run: shortcuts["+"] },
    { id: "further", keys: ["-"], available: isStage, run: shortcuts["-"] },
    { id: "fit", keys: ["0"], available: isStage, run: shortcuts[0] },
    { id: "finding", keys: ["e"], available: () => !elementById("findings").hidden, run: shortcuts.e },
    clickCommand("predict_on", () => elementById("predict-button"), { keys: ["q"], available: () => !state().predict }),
    clickCommand("predict_off", () => elementById("predict-button"), {
      keys: ["q"],
      available: () => Boolean(state().predict),
    }),
    { id: "why", keys: ["w"], available: () => hasSteps() && canAsk(), run: shortcuts.w },
    ...downloads,
  ];
}

function otherCommands({ elementById, openPalette }: PageParts): Command[] {
  const finderOf =
    (selector: string): (() => HTMLElement | null) =>
    () =>
      document.querySelector(selector);
  return [
    clickCommand("open_file", () => elementById("open-file")),
    clickCommand("theme", () => elementById("theme")),
    clickCommand("language", finderOf("a[data-keep]")),
    clickCommand("help", () => elementById("help-button"), { keys: ["?"] }),
    clickCommand("compare", finderOf("a[data-compare]")),
    clickCommand("matrix", finderOf("a[data-page=matrix]")),
    clickCommand("gallery", finderOf("a[data-page=gallery]")),
    { id: "palette", keys: ["Mod+k"], available: () => !document.querySelector("dialog[open]"), run: openPalette },
  ];
}
