/** The trace as TypeScript: `npm run types` writes this from the schema. */

export type Schema = number;
export type Source = string;
export type Pasted = string | null;
export type Lines = (number | null)[];
export type Line = number;
export type Col = number;
export type EndLine = number;
export type EndCol = number;
export type Kind = string;
export type Parent = number | null;
export type Loop = number | null;
export type Statements = Statement[];
export type Line1 = number | null;
export type Kind1 = string;
export type Key = string;
export type Line2 = number;
export type Col1 = number;
export type EndLine1 = number;
export type EndCol1 = number;
export type Text = string;
export type Edits = Edit[];
export type Pasted1 = Edit[] | null;
export type Shape = string | null;
export type Repairs = Repair[];
export type Notices = Notice[];
export type Torch = string;
export type Numpy = string;
export type Python = string;
export type Tracer = string;
export type Device = string;
export type DeviceName = string | null;
export type Seed = number;
export type HashSeed = number;
export type Threads = number;
export type I = number;
export type Kind2 = "statement" | "head" | "call" | "return" | "yield" | "resume" | "raise" | "visit" | "end";
export type Stmt = number | null;
export type Line3 = number;
export type Iter = number[] | null;
export type Frame = string | null;
export type Depth = number;
export type Skipped = number | null;
export type Value = boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null;
export type $F = string;
export type $I = string;
/**
 * @minItems 2
 * @maxItems 2
 */
export type $C = [unknown, unknown];
export type Ref1 = string;
export type Py = string;
export type Text1 = string | null;
export type Shown = string | null;
export type Kind3 = "storage";
export type Device1 = string | null;
export type Nbytes = number | null;
export type Cells = {
  [k: string]: (boolean | number | NotFinite | BigInt | Complex)[];
} | null;
export type CellsAt = {
  [k: string]: {
    [k: string]: boolean | number | NotFinite | BigInt | Complex;
  };
} | null;
export type Summary = {
  [k: string]: Summary1;
} | null;
export type Min = boolean | number | NotFinite | BigInt | Complex | null;
export type Max = boolean | number | NotFinite | BigInt | Complex | null;
export type Mean = boolean | number | NotFinite | BigInt | Complex | null;
export type Bins = number[] | null;
export type Heat = (boolean | number | NotFinite | BigInt | Complex)[] | null;
export type Windows = {
  [k: string]: [unknown, unknown][];
} | null;
export type Storage1 = string;
export type At = number;
export type Exposed = boolean | null;
export type HeldBy = string[] | null;
export type Kind4 = "tensor";
export type Type = string | null;
export type Shape1 = number[] | null;
export type Dtype = string | null;
export type Device2 = string | null;
export type Layout = string | null;
export type Storage2 = string | null;
export type Offset = number | null;
export type Stride = number[] | null;
export type Counter = string | null;
export type Base = string | null;
export type RequiresGrad = boolean | null;
export type Leaf = boolean | null;
export type GradFn = string | null;
export type OutputNr = number | null;
export type Grad = string | null;
export type RetainsGrad = boolean | null;
export type Bits = ("conj" | "neg" | "inference")[] | null;
export type Parts = {
  [k: string]: string;
} | null;
export type By = string;
export type Level = number;
export type Dim = number | null;
export type Value1 = boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null;
export type Tangent = string | null;
export type Quant = {
  [k: string]: unknown;
} | null;
export type Hooks = number | null;
export type Attrs = {
  [k: string]: boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null;
} | null;
export type Kind5 = "array";
export type Type1 = string | null;
export type Shape2 = number[] | null;
export type Dtype1 = string | null;
export type Storage3 = string | null;
export type At1 = number | null;
export type Steps1 = number[] | null;
export type Writeable = boolean | null;
export type Kind6 = "counter";
export type Value2 = number | null;
export type Kind7 = "node";
export type Name = string | null;
export type Next = ([unknown, unknown] | null)[] | null;
export type Variable = string | null;
export type Saved = {
  [k: string]: Slot;
} | null;
export type Tensor1 = string | null;
export type Storage4 = string | null;
export type Dtype2 = string | null;
export type Offset1 = number | null;
export type Shape3 = number[] | null;
export type Stride1 = number[] | null;
export type Counter2 = string | null;
export type Expected = number | null;
export type State = "ok" | "stale" | "changed" | "detached" | "freed" | "packed" | "unknown";
export type Detached = boolean | null;
export type Attrs1 = {
  [k: string]: boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null;
} | null;
export type Custom = boolean | null;
export type Released = boolean | null;
export type Born = number | null;
export type Kind8 = "object";
export type Type2 = string | null;
export type Len = number | null;
export type Items =
  (boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null | [unknown, unknown])[] | null;
export type Splice = [unknown, unknown, unknown][] | null;
export type Attrs2 = {
  [k: string]: boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null;
} | null;
export type Elided = number | null;
export type Kind9 = "frame";
export type Name1 = string | null;
export type Caller = string | null;
export type Line4 = number | null;
export type State1 = ("running" | "suspended") | null;
export type Vars = {
  [k: string]: boolean | number | string | NotFinite | BigInt | Complex | Ref | Opaque | null;
} | null;
export type Unset = string[] | null;
export type Shared = {
  [k: string]: string;
} | null;
export type Kind10 = "backward";
export type Stmt1 = number | null;
export type Api = ("backward" | "grad") | null;
export type Roots = (string | null)[] | null;
export type Inputs = string[] | null;
export type KeepGraph = boolean | null;
export type CreateGraph = boolean | null;
export type Parent1 = string | null;
export type Kind11 = "mode";
export type Grad1 = boolean | null;
export type Inference = boolean | null;
export type Autocast = string | null;
export type Anomaly = boolean | null;
export type DefaultDtype = string | null;
export type SavedHooks = boolean | null;
export type Functorch = string[] | null;
export type Kind12 = "device";
export type Name2 = string | null;
export type Allocated = number | null;
export type Reserved = number | null;
export type Peak = number | null;
export type Blocks = Block[] | null;
export type Address = number;
export type Size = number;
export type State2 = string;
export type Storage5 = string | null;
export type Gone = string[];
export type Kind13 = "op";
export type Name3 = string;
export type Inputs1 = string[];
export type Outputs = string[];
export type RequiresGrad1 = (boolean | null)[];
export type GradMode = boolean;
export type Kind14 = "out";
export type Stream = "stdout" | "stderr";
export type Text2 = string;
export type Kind15 = "event";
export type Op1 = number | null;
export type Span = [unknown, unknown] | null;
export type Event = "storage_allocated";
export type Storage6 = string;
export type Kind16 = "event";
export type Op2 = number | null;
export type Span1 = [unknown, unknown] | null;
export type Event1 = "storage_freed";
export type Storage7 = string;
export type Kind17 = "event";
export type Op3 = number | null;
export type Span2 = [unknown, unknown] | null;
export type Event2 = "written";
export type Storage8 = string;
export type Offset2 = number;
export type Shape4 = number[];
export type Stride2 = number[];
export type Dtype3 = string | null;
export type Changed = number | null;
export type By1 = string | null;
export type Kind18 = "event";
export type Op4 = number | null;
export type Span3 = [unknown, unknown] | null;
export type Event3 = "version_bumped";
export type Counter3 = string;
export type From = number;
export type To = number;
export type Kind19 = "event";
export type Op5 = number | null;
export type Span4 = [unknown, unknown] | null;
export type Event4 = "saved";
export type Node1 = string;
export type Slot1 = string;
export type By2 = string | null;
export type Kind20 = "event";
export type Op6 = number | null;
export type Span5 = [unknown, unknown] | null;
export type Event5 = "saved_stale";
export type Node2 = string;
export type Slot2 = string;
export type By3 = string | null;
export type Kind21 = "event";
export type Op7 = number | null;
export type Span6 = [unknown, unknown] | null;
export type Event6 = "saved_changed_silently";
export type Node3 = string;
export type Slot3 = string;
export type By4 = string | null;
export type Kind22 = "event";
export type Op8 = number | null;
export type Span7 = [unknown, unknown] | null;
export type Event7 = "saved_detached";
export type Node4 = string;
export type Slot4 = string;
export type By5 = string | null;
export type Kind23 = "event";
export type Op9 = number | null;
export type Span8 = [unknown, unknown] | null;
export type Event8 = "path_cut";
export type Tensor2 = string;
export type Result = string | null;
export type Name4 = string;
export type Reason = "detach" | "data" | "no_grad" | "inference" | "item" | "dtype" | "numpy" | "copy";
export type Kind24 = "event";
export type Op10 = number | null;
export type Span9 = [unknown, unknown] | null;
export type Event9 = "graph_released";
export type Node5 = string;
export type Kind25 = "event";
export type Op11 = number | null;
export type Span10 = [unknown, unknown] | null;
export type Event10 = "grad_accumulated";
export type Tensor3 = string;
export type Grad2 = string;
export type First = boolean;
export type Kind26 = "event";
export type Op12 = number | null;
export type Span11 = [unknown, unknown] | null;
export type Event11 = "hook_ran";
export type Node6 = string | null;
export type Kind27 = "event";
export type Op13 = number | null;
export type Span12 = [unknown, unknown] | null;
export type Event12 = "warning";
export type Category = string;
export type Text3 = string;
export type Kind28 = "event";
export type Op14 = number | null;
export type Span13 = [unknown, unknown] | null;
export type Event13 = "limit";
export type Limit = string;
export type Kind29 = "event";
export type Op15 = number | null;
export type Span14 = [unknown, unknown] | null;
export type Event14 = "tracer_fault";
export type Text4 = string;
export type Log = (
  | Op
  | Out
  | (
      | StorageAllocated
      | StorageFreed
      | Written
      | VersionBumped
      | Saved1
      | SavedStale
      | SavedChangedSilently
      | SavedDetached
      | PathCut
      | GraphReleased
      | GradAccumulated
      | HookRan
      | Warned
      | LimitReached
      | TracerFault
    )
)[];
export type Backward1 = string;
export type Node7 = string;
export type Shape5 = number[];
export type Dtype4 = string;
export type Layout1 = string;
export type Cells1 = (boolean | number | NotFinite | BigInt | Complex)[] | null;
export type Storage9 = string | null;
export type GradOutputs = (Grad3 | null)[];
export type GradInputs = (Grad3 | null)[];
export type Accumulates = string | null;
export type Failed = boolean | null;
export type Steps = Step[];
export type Loop1 = number | null;
export type Iteration = number[] | null;
export type Storage10 = string | null;
export type Step1 = number;
export type From1 = number | null;
export type To1 = number | null;
export type Counts = {
  [k: string]: number;
} | null;
export type Repeatable = boolean | null;
export type Status = "finished" | "raised" | "stopped" | "refused" | "crashed" | "cancelled" | "lost";
export type Type3 = string;
export type Message = string;
export type Line5 = number | null;
export type Step2 = number | null;
export type Line6 = number;
export type Frame2 = string;
export type Stack = StackEntry[];
export type Type4 = string;
export type Message1 = string;
export type Line7 = number | null;
export type Line8 = number;
export type Col2 = number;
export type EndCol2 = number | null;
export type Message2 = string;
export type Key1 = string | null;
export type Repairs1 = Repair[];
export type Refusals = Refusal[];
export type Repairs2 = Repair[];
export type Limit1 = "steps" | "wall" | "cpu" | "memory" | "output" | "tensors" | "trace";
export type Value3 = number;
export type Line9 = number | null;
export type Signal = number | null;
export type WallMs = number;
export type CpuMs = number;
export type PeakBytes = number;

/**
 * A whole run.
 */
export interface Trace {
  schema?: Schema;
  program: Program;
  runtime: Runtime;
  steps?: Steps;
  focus?: Focus | null;
  outcome: Outcome;
  cost: Cost;
}
/**
 * The normalised source; `lines[k]` is the pasted line that line k+1 of it came from.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Program".
 */
export interface Program {
  source: Source;
  pasted?: Pasted;
  lines?: Lines;
  statements?: Statements;
  notices?: Notices;
}
/**
 * A statement of the program: lines from 1, columns from 0; `parent` and `loop` are statement indices.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Statement".
 */
export interface Statement {
  line: Line;
  col: Col;
  end_line: EndLine;
  end_col: EndCol;
  kind: Kind;
  parent?: Parent;
  loop?: Loop;
}
/**
 * What the normaliser changed or points out; `kind` keys a sentence, `args` fill it; `line` of `source`.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Notice".
 */
export interface Notice {
  line?: Line1;
  kind: Kind1;
  args?: Args;
  repairs?: Repairs;
}
export interface Args {
  [k: string]: unknown;
}
/**
 * A change that lets the program run; nobody makes it unasked. `key` and `args` say what and why.
 *
 * edits: in `source`; pasted: the same in the pasted text, where that differs. shape: what stands for `{shape}` in
 * their texts until the reader says otherwise, sizes with commas between; `{n}` is the first of them.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Repair".
 */
export interface Repair {
  key: Key;
  args?: Args1;
  edits?: Edits;
  pasted?: Pasted1;
  shape?: Shape;
}
export interface Args1 {
  [k: string]: unknown;
}
/**
 * One replacement: lines from 1, columns from 0, in characters.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Edit".
 */
export interface Edit {
  line: Line2;
  col: Col1;
  end_line: EndLine1;
  end_col: EndCol1;
  text: Text;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Runtime".
 */
export interface Runtime {
  torch: Torch;
  numpy: Numpy;
  python: Python;
  tracer: Tracer;
  device: Device;
  device_name?: DeviceName;
  seed: Seed;
  hash_seed: HashSeed;
  threads: Threads;
  limits: Limits;
}
export interface Limits {
  [k: string]: number;
}
/**
 * The state after what this step names: apply `set`, then `gone`.
 *
 * shown: what an interactive session shows of a bare expression's value ("" for None); only where the pasted text
 * holds an output to lay beside it, and where showing runs none of the program's code.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Step".
 */
export interface Step {
  i: I;
  kind: Kind2;
  stmt?: Stmt;
  line: Line3;
  iter?: Iter;
  frame?: Frame;
  depth?: Depth;
  skipped?: Skipped;
  value?: Value;
  shown?: Shown;
  set?: Set;
  gone?: Gone;
  log?: Log;
  visit?: Visit | null;
}
/**
 * NaN or an infinity, which JSON numbers can't say: `nan`, `inf` or `-inf`.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "NotFinite".
 */
export interface NotFinite {
  $f: $F;
}
/**
 * An integer beyond 2^53, in decimal digits.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "BigInt".
 */
export interface BigInt {
  $i: $I;
}
/**
 * A complex number as its real and imaginary part.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Complex".
 */
export interface Complex {
  $c: $C;
}
/**
 * A reference to an entity of the picture.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Ref".
 */
export interface Ref {
  ref: Ref1;
}
/**
 * A Python value that is named by its type and not drawn; `text` only where reading it runs no user code.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Opaque".
 */
export interface Opaque {
  py: Py;
  text?: Text1;
}
/**
 * uid -> the fields that changed; null means absent.
 */
export interface Set {
  [k: string]: Storage | Tensor | Array | Counter1 | Node | Object | Frame1 | Backward | Mode | Device3;
}
/**
 * A block of memory. `cells` is whole up to 1,024 elements; beyond, `summary` and `windows` ([from, values]).
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Storage".
 */
export interface Storage {
  kind?: Kind3;
  device?: Device1;
  nbytes?: Nbytes;
  cells?: Cells;
  cells_at?: CellsAt;
  summary?: Summary;
  windows?: Windows;
  within?: Within | null;
  exposed?: Exposed;
  held_by?: HeldBy;
}
/**
 * A storage too big to list, told in numbers: `bins` is a histogram of the finite values between min and max.
 *
 * `heat` are the means of equal stretches, in memory order: of n elements and m stretches, stretch k begins at k * n // m.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Summary".
 */
export interface Summary1 {
  min?: Min;
  max?: Max;
  mean?: Mean;
  bins?: Bins;
  heat?: Heat;
}
/**
 * This storage's bytes lie inside another's, `at` bytes from its start.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Within".
 */
export interface Within {
  storage: Storage1;
  at: At;
}
/**
 * A handle: how a tensor reads its storage (offset and strides in elements) and what autograd knows of it.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Tensor".
 */
export interface Tensor {
  kind?: Kind4;
  type?: Type;
  shape?: Shape1;
  dtype?: Dtype;
  device?: Device2;
  layout?: Layout;
  storage?: Storage2;
  offset?: Offset;
  stride?: Stride;
  counter?: Counter;
  base?: Base;
  requires_grad?: RequiresGrad;
  leaf?: Leaf;
  grad_fn?: GradFn;
  output_nr?: OutputNr;
  grad?: Grad;
  retains_grad?: RetainsGrad;
  bits?: Bits;
  parts?: Parts;
  wraps?: Wraps | null;
  tangent?: Tangent;
  quant?: Quant;
  hooks?: Hooks;
  attrs?: Attrs;
}
/**
 * What a functorch wrapper wraps.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Wraps".
 */
export interface Wraps {
  by: By;
  level: Level;
  dim?: Dim;
  value?: Value1;
}
/**
 * A numpy array; `at` and `steps` in bytes from the start of its storage.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Array".
 */
export interface Array {
  kind?: Kind5;
  type?: Type1;
  shape?: Shape2;
  dtype?: Dtype1;
  storage?: Storage3;
  at?: At1;
  steps?: Steps1;
  writeable?: Writeable;
}
/**
 * A version counter: views and `detach()` share it, `.data` has its own.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Counter".
 */
export interface Counter1 {
  kind?: Kind6;
  value?: Value2;
}
/**
 * A node of the autograd graph; `next` are its edges, `[uid, input_nr]`, `saved` its slots as torch names them.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Node".
 */
export interface Node {
  kind?: Kind7;
  name?: Name;
  next?: Next;
  variable?: Variable;
  saved?: Saved;
  attrs?: Attrs1;
  custom?: Custom;
  released?: Released;
  born?: Born;
}
/**
 * A saved tensor of a node; `state` is what torch answers when the slot is read.
 *
 * `stale`: torch will raise; `changed`: other bytes at the version it expects. `detached`: it was detached in place,
 * which torch still lets one read, and backward refuses.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Slot".
 */
export interface Slot {
  tensor?: Tensor1;
  storage?: Storage4;
  dtype?: Dtype2;
  offset?: Offset1;
  shape?: Shape3;
  stride?: Stride1;
  counter?: Counter2;
  expected?: Expected;
  state: State;
  detached?: Detached;
}
/**
 * A list, tuple, dict, set, module, optimizer or instance; `elided` counts the items left out.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Object".
 */
export interface Object {
  kind?: Kind8;
  type?: Type2;
  len?: Len;
  items?: Items;
  splice?: Splice;
  attrs?: Attrs2;
  elided?: Elided;
}
/**
 * A frame; `vars` is a delta of its own (`unset` takes names away); the module frame has no caller.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Frame".
 */
export interface Frame1 {
  kind?: Kind9;
  name?: Name1;
  caller?: Caller;
  line?: Line4;
  state?: State1;
  vars?: Vars;
  unset?: Unset;
  shared?: Shared;
}
/**
 * One call of the engine.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Backward".
 */
export interface Backward {
  kind?: Kind10;
  stmt?: Stmt1;
  api?: Api;
  roots?: Roots;
  inputs?: Inputs;
  keep_graph?: KeepGraph;
  create_graph?: CreateGraph;
  parent?: Parent1;
}
/**
 * The modes in force.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Mode".
 */
export interface Mode {
  kind?: Kind11;
  grad?: Grad1;
  inference?: Inference;
  autocast?: Autocast;
  anomaly?: Anomaly;
  default_dtype?: DefaultDtype;
  saved_hooks?: SavedHooks;
  functorch?: Functorch;
}
/**
 * Memory of a device in bytes.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Device".
 */
export interface Device3 {
  kind?: Kind12;
  name?: Name2;
  allocated?: Allocated;
  reserved?: Reserved;
  peak?: Peak;
  blocks?: Blocks;
}
/**
 * A block of the caching allocator.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Block".
 */
export interface Block {
  address: Address;
  size: Size;
  state: State2;
  storage?: Storage5;
}
/**
 * A torch operation (the dispatcher's name); `requires_grad` of each output, null where it was not observed.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Op".
 */
export interface Op {
  kind?: Kind13;
  name: Name3;
  inputs: Inputs1;
  outputs: Outputs;
  requires_grad: RequiresGrad1;
  grad_mode: GradMode;
}
/**
 * Printed text.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Out".
 */
export interface Out {
  kind?: Kind14;
  stream?: Stream;
  text: Text2;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "StorageAllocated".
 */
export interface StorageAllocated {
  kind?: Kind15;
  op?: Op1;
  span?: Span;
  event?: Event;
  storage: Storage6;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "StorageFreed".
 */
export interface StorageFreed {
  kind?: Kind16;
  op?: Op2;
  span?: Span1;
  event?: Event1;
  storage: Storage7;
}
/**
 * Bytes of a storage changed: `changed` counts the elements that hold other bytes than before.
 *
 * null for a storage too big to keep a copy of.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Written".
 */
export interface Written {
  kind?: Kind17;
  op?: Op3;
  span?: Span2;
  event?: Event2;
  storage: Storage8;
  region?: Region | null;
  changed: Changed;
  by?: By1;
}
/**
 * Elements of a storage, in elements of the dtype named.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Region".
 */
export interface Region {
  offset: Offset2;
  shape: Shape4;
  stride: Stride2;
  dtype?: Dtype3;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "VersionBumped".
 */
export interface VersionBumped {
  kind?: Kind18;
  op?: Op4;
  span?: Span3;
  event?: Event3;
  counter: Counter3;
  from: From;
  to: To;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Saved".
 */
export interface Saved1 {
  kind?: Kind19;
  op?: Op5;
  span?: Span4;
  event?: Event4;
  node: Node1;
  slot: Slot1;
  by?: By2;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "SavedStale".
 */
export interface SavedStale {
  kind?: Kind20;
  op?: Op6;
  span?: Span5;
  event?: Event5;
  node: Node2;
  slot: Slot2;
  by?: By3;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "SavedChangedSilently".
 */
export interface SavedChangedSilently {
  kind?: Kind21;
  op?: Op7;
  span?: Span6;
  event?: Event6;
  node: Node3;
  slot: Slot3;
  by?: By4;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "SavedDetached".
 */
export interface SavedDetached {
  kind?: Kind22;
  op?: Op8;
  span?: Span7;
  event?: Event7;
  node: Node4;
  slot: Slot4;
  by?: By5;
}
/**
 * A result of a tensor that requires grad which no gradient will come back through, and why.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "PathCut".
 */
export interface PathCut {
  kind?: Kind23;
  op?: Op9;
  span?: Span8;
  event?: Event8;
  tensor: Tensor2;
  result?: Result;
  name: Name4;
  reason: Reason;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "GraphReleased".
 */
export interface GraphReleased {
  kind?: Kind24;
  op?: Op10;
  span?: Span9;
  event?: Event9;
  node: Node5;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "GradAccumulated".
 */
export interface GradAccumulated {
  kind?: Kind25;
  op?: Op11;
  span?: Span10;
  event?: Event10;
  tensor: Tensor3;
  grad: Grad2;
  first: First;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "HookRan".
 */
export interface HookRan {
  kind?: Kind26;
  op?: Op12;
  span?: Span11;
  event?: Event11;
  node?: Node6;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Warned".
 */
export interface Warned {
  kind?: Kind27;
  op?: Op13;
  span?: Span12;
  event?: Event12;
  category: Category;
  text: Text3;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "LimitReached".
 */
export interface LimitReached {
  kind?: Kind28;
  op?: Op14;
  span?: Span13;
  event?: Event13;
  limit: Limit;
}
/**
 * The recorder failed at something; the program was not disturbed and the picture lacks what is named.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "TracerFault".
 */
export interface TracerFault {
  kind?: Kind29;
  op?: Op15;
  span?: Span14;
  event?: Event14;
  text: Text4;
}
/**
 * One node run by the engine: `grad_inputs[i]` travels the node's i-th edge.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Visit".
 */
export interface Visit {
  backward: Backward1;
  node: Node7;
  grad_outputs: GradOutputs;
  grad_inputs: GradInputs;
  accumulates?: Accumulates;
  failed?: Failed;
}
/**
 * A gradient as it passed: its elements in logical order, or a summary of them.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Grad".
 */
export interface Grad3 {
  shape: Shape5;
  dtype: Dtype4;
  layout: Layout1;
  cells?: Cells1;
  summary?: Summary1 | null;
  storage?: Storage9;
}
/**
 * What a run shows that would be left out: an iteration of a loop, or elements of a big storage.
 *
 * loop: its statement; iteration: the counts from 0 of the loops around it and, last, its own. storage: the elements
 * [from, to) of one, from that step on; its uid is the one that the same program's trace gave it. counts: loops by
 * statement and which iteration of the whole run, from 1, is shown. repeatable: whether the program printed and ended
 * as in the run before.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Focus".
 */
export interface Focus {
  loop?: Loop1;
  iteration?: Iteration;
  storage?: Storage10;
  step?: Step1;
  from?: From1;
  to?: To1;
  counts?: Counts;
  repeatable?: Repeatable;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Outcome".
 */
export interface Outcome {
  status: Status;
  error?: Error | null;
  stopped?: Stopped | null;
  signal?: Signal;
}
/**
 * Python's own type, text and line; for `refused`, every refusal at once.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Error".
 */
export interface Error {
  type: Type3;
  message: Message;
  line?: Line5;
  step?: Step2;
  stack?: Stack;
  cause?: Cause | null;
  refusals?: Refusals;
  repairs?: Repairs2;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "StackEntry".
 */
export interface StackEntry {
  line: Line6;
  frame: Frame2;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Cause".
 */
export interface Cause {
  type: Type4;
  message: Message1;
  line?: Line7;
}
/**
 * Why a program is not run: lines from 1, columns from 0; `key` and `args` say it in any language.
 *
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Refusal".
 */
export interface Refusal {
  line: Line8;
  col?: Col2;
  end_col?: EndCol2;
  message: Message2;
  key?: Key1;
  args?: Args2;
  repairs?: Repairs1;
}
export interface Args2 {
  [k: string]: unknown;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Stopped".
 */
export interface Stopped {
  limit: Limit1;
  value: Value3;
  line?: Line9;
}
/**
 * This interface was referenced by `Trace`'s JSON-Schema
 * via the `definition` "Cost".
 */
export interface Cost {
  wall_ms: WallMs;
  cpu_ms: CpuMs;
  peak_bytes: PeakBytes;
}
