/** What a page needs of the findings, in one module: it is fetched when a trace has come, not before. */

export { explain } from "./explain.js";
export { resolve } from "./resolve.js";
export { RunFacts } from "./run_facts.js";
export { answerOf, checkableBackward, selectedTensor } from "./tensor_question.js";
export { answerText, findingText, questionText } from "./text.js";
