/** What a page needs of the findings, in one module: it is fetched when a trace has come, not before. */

export { explain } from "./explain.ts";
export { lookedForIn } from "./looked_for.ts";
export { resolvePath } from "./facts/resolve.ts";
export { RunFacts } from "./facts/run_facts.ts";
export {
  answerAboutTensor,
  backwardToCheck,
  selectedTensor,
} from "./gradients/tensor_question.ts";
export { answerText, findingText, lookedForText, questionText } from "./finding_text.ts";
export { automaticCheck } from "./automatic_check.ts";
