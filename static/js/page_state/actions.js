/** What happens to the page: every change of its state is one of these, reduced in `page_state.js`. */

/**
 * @typedef {import("../trace/wire.js").Trace} Trace
 * @typedef {import("./settings.js").Settings} Settings
 * @typedef {import("./url.js").Address} Address
 * @typedef {import("./url.js").View} View
 * @typedef {import("./page_state.js").Problem} Problem
 *
 * @typedef {{type: "pageOpened", address: Address}
 *   | {type: "liveSwitched", on: boolean}
 *   | {type: "liveAnswered", source: string, settings: Settings, trace: Trace}
 *   | {type: "linkOpened", address: Address}
 *   | {type: "programEdited", text: string}
 *   | {type: "settingsChanged", settings: Settings}
 *   | {type: "runRequested"}
 *   | {type: "repairRequested", repair: import("../trace/wire.js").Repair, shape?: string}
 *   | {type: "fixApplied", edits: import("../requests/fixes.js").LineEdit[]}
 *   | {type: "siblingChosen", edits: import("../requests/fixes.js").LineEdit[], line: number}
 *   | {type: "cardChanged", line: number}
 *   | {type: "iterationRequested", index: number}
 *   | {type: "elementsRequested", storage: string, at: number}
 *   | {type: "runQueued", id: number, ahead: number}
 *   | {type: "runStarted", id: number}
 *   | {type: "traceArrived", id: number, trace: Trace}
 *   | {type: "traceMissing", id: number}
 *   | {type: "runFailed", id: number, problem: Problem}
 *   | {type: "runCancelled", id: number}
 *   | {type: "stepChosen", step: number}
 *   | {type: "lineChosen", line: number}
 *   | {type: "cellChosen", storage: string, index: number, dtype: string}
 *   | {type: "pinChosen", node: string, slot: string}
 *   | {type: "selectionChanged", key: string | null}
 *   | {type: "questionAsked", uid: string}
 *   | {type: "questionClosed"}
 *   | {type: "viewChosen", view: View}
 *   | {type: "predictSwitched", on: boolean}
 *   | {type: "questionsMade", whole: import("../trace/state.js").OpenTrace, questions: import("../predict/question.js").Question[],
 *       kept: {answers: import("../predict/mode.js").Answer[], reached: number} | null}
 *   | {type: "predictionMade", given: import("../predict/mode.js").Given}
 *   | {type: "predictContinued"}
 *   | {type: "predictRestarted"}
 *   | {type: "problemFound", problem: Problem | null}} Action
 */

export {};
