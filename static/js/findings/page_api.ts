/** What a page needs of the findings, in one module: it is fetched when a trace has come, not before. */

export { explain } from "./explain.ts";
export { resolve } from "./resolve.ts";
export { RunFacts } from "./run_facts.ts";
export { answerOf, checkableBackward, selectedTensor } from "./tensor_question.ts";
export { answerText, findingText, questionText } from "./text.ts";
