/** The trace as TypeScript: `npm run types` writes this from the schema. */

export type Value = boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null;
export type LogEntry = Op | Out | Event;
export type Event =
  | StorageAllocated
  | StorageFreed
  | Written
  | VersionBumped
  | Saved
  | SavedStale
  | SavedChangedSilently
  | SavedDetached
  | PathCut
  | GraphReleased
  | GradAccumulated
  | OptimizerStepped
  | ModuleCalled
  | ModuleReturned
  | LayerMode
  | HookRan
  | HookLeft
  | ContextKept
  | IndexCopyWritten
  | IndicesRepeated
  | FunctionChecked
  | UninitializedRead
  | Raised
  | Warned
  | Replaced
  | TracingTaken
  | LimitReached
  | ContentsSummarized
  | BackwardUnrecorded
  | TracerFault;
/**
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^(0|[1-9][0-9]{0,2}|10[01][0-9]|102[0-3])$".
 */
export type Number = boolean | number | NotFinite | BigInt | Complex;
export type Entity = Storage | Tensor | Array | Counter | Node | Object | Frame | Backward | Mode | Device;
export type Item = boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null | [Value, Value];

/**
 * A whole run.
 *
 * rounds: of a run that trains
 */
export interface Trace {
  schema: number;
  program: Program;
  runtime: Runtime;
  steps: Step[];
  focus?: Focus | null;
  outcome: Outcome;
  cost: Cost;
  rounds?: TrainingRounds | null;
}
/**
 * The normalised source; `lines[k]` is the pasted line that line k+1 of it came from.
 *
 * files: the files that make up the source, one after the other, each beginning on a new line; none if it is a single
 *     text
 */
export interface Program {
  source: string;
  /**
   * @maxItems 1000
   */
  files?: ProgramFile[];
  pasted?: string | null;
  lines?: (number | null)[];
  statements?: Statement[];
  notices?: Notice[];
}
/**
 * One of the files whose text makes up a program's source: lines `first_line` to `last_line`, counted from 1, both
 * included.
 *
 * name: the displayed name, like `pkg/model.py`
 * path: where the file is, if that is told
 */
export interface ProgramFile {
  name: string;
  path?: string | null;
  first_line: number;
  last_line: number;
}
/**
 * A statement of the program. Lines count from 1, columns from 0; `parent` and `loop` are indices of statements.
 */
export interface Statement {
  line: number;
  col: number;
  end_line: number;
  end_col: number;
  kind: string;
  parent?: number | null;
  loop?: number | null;
  syntax?: StatementSyntax | null;
}
/**
 * The nodes of a statement's syntax tree, each before those in it, as columns: item k of each list is of node k.
 *
 * Node 0 is the statement. Of a block there is its head alone; of a class also the statements of its body that have
 * no row of their own.
 *
 * kinds, fields: the kind of node, and the field of its parent that has it, as Python's `ast` calls them. What holds
 * no nodes is not listed (contexts, operators, `arguments`): parameters are in the fields `args`, `posonlyargs`,
 * `vararg`, `kwonlyargs` and `kwarg` of their function itself, each with its `annotation` and its `default`. Keys
 * and values of a dictionary alternate; a value without a key is unpacked.
 *
 * parents: by number; -1 for the statement.
 *
 * starts, ends: characters of the source, counted from the statement's beginning; decorators stand before it.
 * Brackets around an expression are not of it.
 *
 * values: of a name, an attribute, a parameter, a keyword and a definition what it is called (`global a, b`: `a,b`);
 * of a literal its value, where it is a short string, a number that JSON has, a bool or None; of operations the
 * operator, of comparisons those between the operands with commas; of `from … import` the module, with its dots, and
 * of each imported name what it is bound to; of a list, tuple or set how many literals at its end are not listed.
 *
 * paths: of a name that the program doesn't bind itself, and of an imported one, the dotted path that it leads to,
 * as the import has it: `torch.nn.functional` for `F`, `builtins.print` for `print`. Absent where a name has another
 * meaning too.
 */
export interface StatementSyntax {
  kinds: string[];
  fields: string[];
  parents: number[];
  starts: number[];
  ends: number[];
  values?: {
    [k: string]: boolean | number | string | null;
  };
  paths?: {
    [k: string]: string;
  };
}
/**
 * Something that the normaliser changed or points out. `kind` names a sentence, `args` are its arguments, `line` is
 * in `source`.
 */
export interface Notice {
  line?: number | null;
  kind: string;
  args?: {
    [k: string]: unknown;
  };
  repairs?: Repair[];
}
/**
 * A change that lets the program run; it is only made on request. `key` and `args` say what and why.
 *
 * edits: in `source`
 * pasted: the same edits in the pasted text, if that differs
 * shape: the text for `{shape}` in the edits until the reader enters another, sizes with commas between them; `{n}` is
 *     the first of them
 */
export interface Repair {
  key: string;
  args?: {
    [k: string]: unknown;
  };
  edits?: Edit[];
  pasted?: Edit[] | null;
  shape?: string | null;
}
/**
 * One replacement. Lines count from 1, columns from 0, in characters.
 */
export interface Edit {
  line: number;
  col: number;
  end_line: number;
  end_col: number;
  text: string;
}
/**
 * What ran the program.
 *
 * device_name: the maker's name of the processor or the GPU
 * input: what `input()` and `sys.stdin` could read, if it was not empty
 * worker: the name of the worker that ran it, if there are workers on other machines
 * recorded: "own process" if no confined child ran it, but a process of its user, with the user's files, imports and
 *     arguments. Such a program is not run again from its trace.
 * regions: the recorded parts of the run, if not all of it was recorded
 * arguments: what followed the file on the command line
 */
export interface Runtime {
  torch: string;
  numpy: string;
  python: string;
  tracer: string;
  device: string;
  device_name?: string | null;
  seed: number;
  hash_seed: number;
  threads: number;
  limits: {
    [k: string]: number;
  };
  input?: string | null;
  worker?: string | null;
  recorded?: "own process" | null;
  regions?: Region[] | null;
  arguments?: string[] | null;
}
/**
 * A part of a run that was recorded, while the rest was not.
 *
 * name: the name that the program or its user gave it
 * first_line, last_line: of the source, if it is a range of lines
 * iteration: of the outermost loop, from 0, if it is an iteration
 * step: its first step
 */
export interface Region {
  name?: string | null;
  first_line?: number | null;
  last_line?: number | null;
  iteration?: number | null;
  step?: number | null;
}
/**
 * The state after a step: apply `set`, then `gone`.
 *
 * skipped: how many steps passed unrecorded before it; skipped_nodes: how many of them are nodes that backward ran
 * shown: what an interactive session shows of a bare expression's value ("" for None); only if the pasted text has an
 *     output to compare with, and if showing it runs none of the program's code
 */
export interface Step {
  i: number;
  kind: "begin" | "statement" | "head" | "call" | "return" | "yield" | "resume" | "raise" | "visit" | "end";
  stmt?: number | null;
  line: number;
  iter?: number[] | null;
  frame?: string | null;
  depth: number;
  skipped?: number | null;
  skipped_nodes?: number | null;
  value?: Value;
  shown?: string | null;
  /**
   * uid -> the fields that changed; null means absent.
   */
  set: {[uid: string]: Delta};
  gone: string[];
  log: LogEntry[];
  visit?: Visit | null;
}
export interface NotFinite {
  $f: string;
}
export interface BigInt {
  $i: string;
}
export interface Complex {
  /**
   * @minItems 2
   * @maxItems 2
   */
  $c: [number | NotFinite, number | NotFinite];
}
/**
 * A reference to an entity of the picture.
 */
export interface Ref {
  ref: string;
}
/**
 * A Python value that is only named by its type and not drawn; `text` is present only if reading it runs no user
 * code.
 */
export interface Opaque {
  py: string;
  text?: string | null;
}
/**
 * A torch operation by the dispatcher's name; `requires_grad` of each output, null if it was not observed.
 *
 * failed: it raised, and has no outputs
 * call: the number of the innermost module call that it is part of
 * expression: what of the program called it: the index of a statement, and the number of a node in its `syntax`
 * direct: the program called it by that expression itself, with no more than a thin function of torch between
 * args: of its arguments those that say along which axes it works, by name: `dim`, `equation`, `batch_first` ...
 * place: for some operations that ran while grad mode was off, the line without steps that asked for it
 */
export interface Op {
  kind: "op";
  name: string;
  inputs: string[];
  outputs: string[];
  requires_grad: (boolean | null)[];
  grad_mode: boolean;
  call?: number | null;
  expression?: number[] | null;
  direct?: boolean | null;
  args?: {
    [k: string]: boolean | number | string | number[];
  } | null;
  failed?: boolean | null;
  place?: CodePlace | null;
}
/**
 * A line of code without steps, such as one of a module that was not recorded: file name without folders, line,
 * text.
 *
 * module: the name for `--also`; "" for code that can't be imported, such as a notebook's earlier cell
 */
export interface CodePlace {
  file: string;
  module: string;
  line: number;
  code: string;
}
/**
 * Printed text.
 */
export interface Out {
  kind: "out";
  stream: "stdout" | "stderr";
  text: string;
}
export interface StorageAllocated {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "storage_allocated";
  storage: string;
}
export interface StorageFreed {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "storage_freed";
  storage: string;
}
/**
 * Bytes of a storage changed. `changed` counts the elements whose bytes differ from before; null for a storage too
 * large to keep a copy of.
 */
export interface Written {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "written";
  storage: string;
  region?: Region1 | null;
  changed: number | null;
  by?: string | null;
}
/**
 * Elements of a storage; all numbers are in elements of the given dtype.
 */
export interface Region1 {
  offset: number;
  shape: number[];
  stride: number[];
  dtype?: string | null;
}
export interface VersionBumped {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  from: number;
  event: "version_bumped";
  counter: string;
  to: number;
}
export interface Saved {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  node: string;
  slot: string;
  event: "saved";
}
export interface SavedStale {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  node: string;
  slot: string;
  by?: string | null;
  place?: CodePlace | null;
  event: "saved_stale";
}
export interface SavedChangedSilently {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  node: string;
  slot: string;
  by?: string | null;
  place?: CodePlace | null;
  event: "saved_changed_silently";
}
export interface SavedDetached {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  node: string;
  slot: string;
  by?: string | null;
  place?: CodePlace | null;
  event: "saved_detached";
}
/**
 * A result of a tensor that requires grad, through which no gradient will come back, and why.
 *
 * place: the line without steps that asked for it, if one did; for `detach` and `data`, the first line that used the
 *     result
 */
export interface PathCut {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "path_cut";
  tensor: string;
  result?: string | null;
  name: string;
  reason: "detach" | "data" | "no_grad" | "inference" | "item" | "dtype" | "numpy" | "copy";
  place?: CodePlace | null;
}
export interface GraphReleased {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "graph_released";
  node: string;
}
export interface GradAccumulated {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "grad_accumulated";
  tensor: string;
  grad: string;
  first: boolean;
}
/**
 * An optimizer's `step()` returned.
 *
 * optimizer: absent if no recorded name led to it
 * unrecorded: the event stands for this many steps in iterations that were not recorded, before the step that has the
 *     event
 */
export interface OptimizerStepped {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "optimizer_stepped";
  optimizer?: string | null;
  unrecorded?: number | null;
}
/**
 * A call of an `nn.Module` begins.
 *
 * call: its number, from 0 over all recorded calls of the run
 * module: absent if no recorded name leads to it
 * type: the module's class
 * within: the call inside which this one runs
 * inputs: the tensors among its arguments, including those in dicts
 */
export interface ModuleCalled {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "module_called";
  call: number;
  module?: string | null;
  type: string;
  within?: number | null;
  inputs: string[];
}
/**
 * A call of a module ended.
 *
 * outputs: the tensors of its result, including those in dicts
 * failed: it raised
 */
export interface ModuleReturned {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "module_returned";
  call: number;
  outputs: string[];
  failed?: boolean | null;
}
/**
 * The mode with which dropout or batch norm ran.
 *
 * training: dropout drops, with probability `p`, and batch norm uses the statistics of the batch; attention drops
 *     whenever its `dropout_p` is above 0
 * modules: the modules in whose calls it ran, the innermost first; empty if the program called the function itself
 */
export interface LayerMode {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "layer_mode";
  layer: "dropout" | "batch_norm";
  training: boolean;
  p?: number | null;
  modules: CallingModule[];
}
/**
 * A module that is being called, with its class and its `training`.
 *
 * module: absent if no recorded name led to it
 */
export interface CallingModule {
  type: string;
  training: boolean;
  module?: string | null;
}
/**
 * Hooks that the program registered on a tensor ran during the visit of its node; `count` of them.
 *
 * Hooks of nodes and modules have no event, because the steps of their functions show them. Nor have hooks of a tensor
 * without a Python object.
 *
 * hook: `tensor`, by `register_hook`, before the node was run; `post_accumulate_grad`, after `.grad` was accumulated
 */
export interface HookRan {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "hook_ran";
  hook: "tensor" | "post_accumulate_grad";
  tensor: string;
  node: string;
  count: number;
}
/**
 * Hooks of a tensor stayed with its earlier node when a write in place gave it another one; `count` of them.
 */
export interface HookLeft {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "hook_left";
  tensor: string;
  node: string;
  count: number;
}
/**
 * A custom function's `ctx`, which is its node, keeps a tensor as a plain attribute instead of by
 * `save_for_backward`.
 */
export interface ContextKept {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "context_kept";
  node: string;
  tensor: string;
  name: string;
}
/**
 * A lost write into the copy that an advanced index (`x[mask]`, `x[[1, 3]]`), a `reshape` or the like made.
 *
 * tensor: the tensor that was copied, which did not change
 * copy: the copy. No operator read it after the write, and it died with the statement.
 * op: the last operation that wrote it
 */
export interface IndexCopyWritten {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "index_copy_written";
  tensor: string;
  copy: string;
}
/**
 * A write by index tensors (`x[i] = v`, `x[i] += v`) names an element more than once, so only one of its writes
 * counts.
 *
 * count: how many places the indices name
 * distinct: how many different ones these are
 */
export interface IndicesRepeated {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "indices_repeated";
  tensor: string;
  count: number;
  distinct: number;
}
/**
 * The backward of one of the program's own Functions was compared after the run with the slope of its forward, and
 * differs.
 *
 * order: 2 if backward is right and its own derivative is not
 * incoming: the gradient that came into backward in the check
 * got, wanted: the gradient that it returned for an element of an argument, and the slope times the incoming gradient
 * ignores_incoming: it returns the same whatever gradient comes in
 */
export interface FunctionChecked {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "function_checked";
  function: string;
  order: number;
  argument: number;
  element: number;
  incoming: number;
  got: number;
  wanted: number;
  ignores_incoming?: boolean | null;
}
/**
 * An operation, or a printed tensor, read memory of `torch.empty` or a similar function that nothing had
 * written.
 */
export interface UninitializedRead {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "uninitialized_read";
  tensor: string;
}
/**
 * An exception reached a handler, or a `finally`, of the program.
 *
 * exception: its class
 * in_torch: the innermost Python code that raised it is torch's
 * place: the line of code without steps that raised it, if one did
 */
export interface Raised {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "raised";
  exception: string;
  message: string;
  in_torch: boolean;
  place?: CodePlace | null;
}
export interface Warned {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "warning";
  category: string;
  text: string;
}
/**
 * The program asked for something that is done differently here.
 *
 * what: `compile`: the plain function runs instead of a compiled one; `workers`: a DataLoader with `count` workers
 *     loads its data itself
 */
export interface Replaced {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "replaced";
  what: "compile" | "workers";
  count?: number | null;
}
/**
 * A debugger, or the program itself, replaced Python's trace function, which followed the code: statements before
 * this step may be missing.
 *
 * by: the module of the new trace function
 */
export interface TracingTaken {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "tracing_taken";
  by?: string | null;
}
export interface LimitReached {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "limit";
  limit: "steps" | "wall" | "cpu" | "memory" | "output" | "tensors" | "trace";
}
/**
 * One stretch of the run takes so much of the trace's room that from here on the contents of larger storages have
 * no cells.
 */
export interface ContentsSummarized {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "contents_summarized";
  elements: number;
}
/**
 * Backwards have run in threads that are not recorded.
 *
 * count: how many
 */
export interface BackwardUnrecorded {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "backward_unrecorded";
  count: number;
}
/**
 * The recorder failed at something. The program was not disturbed; the picture lacks what is named.
 */
export interface TracerFault {
  kind: "event";
  op?: number | null;
  span?: [number, number] | null;
  event: "tracer_fault";
  text: string;
}
/**
 * One node run by the engine. `grad_inputs[i]` travels along the node's i-th edge.
 */
export interface Visit {
  backward: string;
  node: string;
  grad_outputs: (Grad | null)[];
  grad_inputs: (Grad | null)[];
  accumulates?: string | null;
  failed?: boolean | null;
}
/**
 * A gradient as it passed: its elements in logical order, or a summary of them.
 */
export interface Grad {
  shape: number[];
  dtype: string;
  layout: string;
  cells?: Number[] | null;
  summary?: Summary | null;
  storage?: string | null;
}
/**
 * Statistics of a storage that is too large to list; only finite values count. `bins` is a histogram between min
 * and max, and `norm` the Euclidean norm, absent if it was not computed. `heat` holds the means of equal stretches in
 * memory order: of n elements and m stretches, stretch k begins at k * n // m.
 */
export interface Summary {
  min?: boolean | number | NotFinite | BigInt | Complex | null;
  max?: boolean | number | NotFinite | BigInt | Complex | null;
  mean?: boolean | number | NotFinite | BigInt | Complex | null;
  norm?: boolean | number | NotFinite | BigInt | Complex | null;
  bins?: number[] | null;
  heat?: Number[] | null;
}
/**
 * What a run shows that would otherwise be left out: an iteration of a loop, or elements of a large storage.
 *
 * loop: the statement of the loop
 * iteration: the counts from 0 of the loops around it and, last, its own
 * storage: the elements [from, to) of this storage, from that step on; its uid is the one in the same program's trace
 * counts: for each loop's statement, which iteration of the whole run, from 1, is shown
 * repeatable: whether the program printed and ended as in the run before
 */
export interface Focus {
  loop?: number | null;
  iteration?: number[] | null;
  storage?: string | null;
  step?: number;
  from?: number | null;
  to?: number | null;
  counts?: {
    [k: string]: number;
  } | null;
  repeatable?: boolean | null;
}
export interface Outcome {
  status: "finished" | "raised" | "stopped" | "refused" | "crashed" | "cancelled" | "lost" | "running";
  error?: Error | null;
  stopped?: Stopped | null;
  signal?: number | null;
}
/**
 * Python's own type, text and line; for `refused`, all refusals.
 *
 * place: the line of code without steps that raised it, below the program's
 * skipped_iteration: the innermost loop's iteration, if it was raised in one that was not recorded
 */
export interface Error {
  type: string;
  message: string;
  line?: number | null;
  step?: number | null;
  stack?: StackEntry[];
  cause?: Cause | null;
  place?: CodePlace | null;
  skipped_iteration?: SkippedIteration | null;
  refusals?: Refusal[];
  repairs?: Repair[];
}
export interface StackEntry {
  line: number;
  frame: string;
}
export interface Cause {
  type: string;
  message: string;
  line?: number | null;
}
/**
 * An iteration that was not recorded: the statement of its loop, and its number in the whole run, from 0.
 */
export interface SkippedIteration {
  loop: number;
  iteration: number;
}
/**
 * Why a program is not run. Lines count from 1, columns from 0; `key` and `args` express it in any language.
 */
export interface Refusal {
  line: number;
  col?: number;
  end_col?: number | null;
  message: string;
  key?: string | null;
  args?: {
    [k: string]: unknown;
  };
  repairs?: Repair[];
}
/**
 * A run that reached a limit.
 *
 * value: the limit, or of `wall` the seconds that the program had where the machine was so busy that it had fewer
 * line: where the program was
 * waited: of `wall`, the seconds that it waited besides because others had the processor
 */
export interface Stopped {
  limit: "steps" | "wall" | "cpu" | "memory" | "output" | "tensors" | "trace";
  value: number;
  line?: number | null;
  waited?: number | null;
}
export interface Cost {
  wall_ms: number;
  cpu_ms: number;
  peak_bytes: number;
}
/**
 * The rounds of a training.
 *
 * count: how many rounds the run had
 * optimizers: how many stepped; if none did, a round is an iteration that calls backward
 * every: one round in so many is listed in `rounds`, besides rounds that are recorded or in which a value stopped
 *     being finite, as far as there is room
 * new_rates: the first rounds whose learning rates differ from those of the round before
 * printed_every: of the rounds that print, one in so many is listed in `printed`
 */
export interface TrainingRounds {
  count: number;
  optimizers: number;
  every: number;
  /**
   * @maxItems 8
   */
  losses: RoundLoss[];
  /**
   * @maxItems 64
   */
  rows: RoundRow[];
  /**
   * @maxItems 2048
   */
  stretches: RoundStretch[];
  /**
   * @maxItems 500
   */
  rounds: TrainingRound[];
  /**
   * @maxItems 10000
   */
  recorded: RecordedRound[];
  /**
   * @maxItems 64
   */
  new_rates: number[];
  /**
   * @maxItems 500
   */
  printed: RoundText[];
  printed_every: number;
}
/**
 * A loss: the statement at which backwards began, and the tensor among those that it was called with.
 *
 * values: of the rounds 0, every, 2 * every …; null if it did not run in a round or its value was not read. If a round
 *     has several backwards, of the last.
 */
export interface RoundLoss {
  stmt: number | null;
  root: number;
  every: number;
  /**
   * @maxItems 4096
   */
  values: (boolean | number | NotFinite | BigInt | Complex | null)[];
}
/**
 * What norms are listed for: a parameter, or all parameters of a module together.
 *
 * module: null if they belong to no module
 */
export interface RoundRow {
  /**
   * @maxItems 4096
   */
  tensors: string[];
  module?: string | null;
}
/**
 * Rounds from `first` on that lie in the same loops.
 *
 * loops: statements of the loops, outermost first; the last `inner` of them are of the function that trains. The last
 *     stretch for which there is room has none: the loops of its rounds are not known.
 * iteration: of each loop, from 0, in the first of these rounds
 * total: the number of that iteration in the whole run, from 1
 * by: how many iterations of the last loop a round has; 0 if there is only one round
 */
export interface RoundStretch {
  first: number;
  /**
   * @maxItems 64
   */
  loops: number[];
  inner: number;
  /**
   * @maxItems 64
   */
  iteration: number[];
  /**
   * @maxItems 64
   */
  total: number[];
  by: number;
}
/**
 * One round of a training.
 *
 * n: its number, from 0
 * backwards: how many calls of backward it had
 * losses: in the order of `TrainingRounds.losses`
 * lr: learning rates of the groups of the optimizers that have stepped, in the order of their first steps
 * grad, weight, moved: the norms of the gradients, of the weights after the optimizer's step, and of the change of the
 *     weights; absent if they were not read
 */
export interface TrainingRound {
  n: number;
  backwards: number;
  /**
   * @maxItems 8
   */
  losses: (boolean | number | NotFinite | BigInt | Complex | null)[];
  /**
   * @maxItems 16
   */
  lr: (boolean | number | NotFinite | BigInt | Complex | null)[];
  /**
   * @maxItems 64
   */
  grad?: (boolean | number | NotFinite | BigInt | Complex | null)[];
  /**
   * @maxItems 64
   */
  weight?: (boolean | number | NotFinite | BigInt | Complex | null)[];
  /**
   * @maxItems 64
   */
  moved?: (boolean | number | NotFinite | BigInt | Complex | null)[];
}
/**
 * A round with steps: its first step and the step in which it ended.
 */
export interface RecordedRound {
  n: number;
  step: number;
  end: number;
}
/**
 * The beginning of what a round printed.
 */
export interface RoundText {
  n: number;
  text: string;
}
/**
 * A numpy array; `at` and `steps` are in bytes, `at` from the start of its storage.
 */
export interface Array {
  kind: "array";
  type?: string;
  shape?: number[];
  dtype?: string;
  storage?: string;
  at?: number;
  steps?: number[];
  writeable?: boolean;
  existed?: boolean;
}
/**
 * One call of the engine.
 *
 * place: the line without steps that called it, if one did
 */
export interface Backward {
  kind: "backward";
  stmt?: number;
  api?: "backward" | "grad";
  roots?: (string | null)[];
  inputs?: string[];
  keep_graph?: boolean;
  create_graph?: boolean;
  parent?: string;
  place?: CodePlace;
}
/**
 * A block of the caching allocator, in bytes.
 *
 * requested: the size that was asked for, if `size` was rounded up
 */
export interface Block {
  address: number;
  size: number;
  state: string;
  requested?: number | null;
  storage?: string | null;
}
/**
 * A version counter. Views and `detach()` share it; `.data` has its own.
 */
export interface Counter {
  kind: "counter";
  value?: number;
}
/**
 * Memory of a device in bytes. The `blocks` fill the `segments` one after the other; `splice` changes `blocks`.
 */
export interface Device {
  kind: "device";
  name?: string;
  allocated?: number;
  reserved?: number;
  peak?: number;
  segments?: Segment[];
  blocks?: Block[];
  /**
   * @maxItems 1
   */
  splice?: [number, number, Block[]][];
}
/**
 * Memory that the caching allocator got from the driver, in bytes, and its pool: `small` or `large`.
 *
 * stream: the number of the stream that it serves, by first appearance, unless it is the default one
 * private: it belongs to a graph, or to a `torch.cuda.MemPool`
 */
export interface Segment {
  size: number;
  pool: string;
  stream?: number;
  private?: boolean;
}
/**
 * A block of memory. `cells` is complete up to 1,024 elements; larger ones have `summary` and `windows` ([from,
 * values]).
 */
export interface Storage {
  kind: "storage";
  device?: string;
  nbytes?: number;
  cells?: {
    /**
     * @maxItems 1024
     */
    [k: string]: Number[];
  };
  cells_at?: {
    [k: string]: {
      [k: string]: Number;
    };
  };
  summary?: {
    [k: string]: Summary;
  };
  windows?: {
    [k: string]: [number, Number[]][];
  };
  within?: Within;
  exposed?: boolean;
  held_by?: string[];
  existed?: boolean;
}
/**
 * This storage's bytes lie inside another's, `at` bytes from its start.
 */
export interface Within {
  storage: string;
  at: number;
}
/**
 * A handle: how a tensor reads its storage (offset and strides in elements) and what autograd knows of it.
 * `output_nr` is absent if it is 0, `retains_grad` if it is false.
 */
export interface Tensor {
  kind: "tensor";
  type?: string;
  shape?: number[];
  dtype?: string;
  device?: string;
  layout?: string;
  storage?: string;
  offset?: number;
  stride?: number[];
  counter?: string;
  base?: string;
  requires_grad?: boolean;
  leaf?: boolean;
  grad_fn?: string;
  output_nr?: number;
  grad?: string;
  retains_grad?: boolean;
  bits?: ("conj" | "neg" | "inference")[];
  parts?: {
    [k: string]: string;
  };
  wraps?: Wraps;
  tangent?: string;
  quant?: Quantization;
  hooks?: number;
  attrs?: {
    [k: string]: Value;
  };
  existed?: boolean;
}
/**
 * What a functorch wrapper wraps.
 */
export interface Wraps {
  by: string;
  level: number;
  dim?: number | null;
  value?: Value;
}
/**
 * How the integers of a quantized tensor represent numbers; per channel along `axis` if there are lists.
 */
export interface Quantization {
  scheme: string;
  scale: number | number[];
  zero_point: number | number[];
  axis?: number;
}
/**
 * A node of the autograd graph. `next` holds its edges `[uid, input_nr]`, `saved` its slots under torch's names.
 */
export interface Node {
  kind: "node";
  name?: string;
  next?: ([string, number] | null)[];
  variable?: string;
  saved?: {
    [k: string]: Slot;
  };
  attrs?: {
    [k: string]: Value;
  };
  custom?: boolean;
  released?: boolean;
  born?: number;
  existed?: boolean;
}
/**
 * A saved tensor of a node. `state` is what torch answers when the slot is read: `stale` means that torch will
 * raise; `changed`, that there are other bytes at the expected version; `detached`, that the tensor was detached in
 * place, which torch lets one read, but backward rejects.
 *
 * value: a number of the program that torch wrapped in a tensor to save it, like the 2 of `x * 2`. Such a slot has no
 *     storage and no counter until the program gets hold of that tensor; then it becomes an ordinary slot.
 */
export interface Slot {
  value?: boolean | number | NotFinite | BigInt | Complex | null;
  tensor?: string | null;
  storage?: string | null;
  dtype?: string | null;
  offset?: number | null;
  shape?: number[] | null;
  stride?: number[] | null;
  counter?: string | null;
  expected?: number | null;
  state: "ok" | "stale" | "changed" | "detached" | "freed" | "packed" | "unknown";
  detached?: boolean | null;
}
/**
 * A list, tuple, dict, set, module, optimizer or instance; `elided` counts the items left out.
 *
 * training: the mode of a module
 * more_tensors: the parameters behind the `items` of a longer list, like those of an optimizer's group, in order, as
 *     runs of uids: `[203, 205]` is t203, t204, t205
 */
export interface Object {
  kind: "object";
  type?: string;
  len?: number;
  /**
   * @maxItems 200
   */
  items?: Item[];
  /**
   * @maxItems 1
   */
  splice?: [number, number, Item[]][];
  attrs?: {
    [k: string]: Value;
  };
  training?: boolean;
  elided?: number;
  /**
   * @maxItems 10000
   */
  more_tensors?: [number, number][];
  existed?: boolean;
}
/**
 * A frame. `vars` is itself a delta (`unset` removes names); the module's frame has no caller.
 */
export interface Frame {
  kind: "frame";
  name?: string;
  caller?: string;
  line?: number;
  state?: "running" | "suspended";
  free?: string[];
  vars?: {
    [k: string]: Value;
  };
  unset?: string[];
}
/**
 * The modes in force.
 */
export interface Mode {
  kind: "mode";
  grad?: boolean;
  inference?: boolean;
  autocast?: string;
  anomaly?: boolean;
  default_dtype?: string;
  saved_hooks?: boolean;
  functorch?: string[];
}

type FieldName<T> = T extends T ? keyof T : never;
type FieldType<T, F> = T extends T ? (F extends keyof T ? T[F] : never) : never;
/** The fields of an entity that a step changes, whichever kind it is of; null takes a field away. */
export type Delta = { [F in FieldName<Entity>]?: FieldType<Entity, F> | null };
