/**
 * Writes static/js/trace/wire.ts from the schema of the trace and static/js/trace/registry.ts from the table of events;
 * with --check only says whether they are current.
 *
 * An entity is declared as it stands in the state, where an absent field is missing; in a step's `set` it is a `Delta`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

const BANNER = "/** The trace as TypeScript: `npm run types` writes this from the schema. */";
const DELTA = `
type FieldName<T> = T extends T ? keyof T : never;
type FieldType<T, F> = T extends T ? (F extends keyof T ? T[F] : never) : never;
/** The fields of an entity that a step changes, whichever kind it is of; null takes a field away. */
export type Delta = { [F in FieldName<Entity>]?: FieldType<Entity, F> | null };
`;
/** Where a definition is used: the compiler says so above each. */
const USE = /\n \*(?:\n \*)? This interface was referenced by `\w+`'s JSON-Schema\n \* via the `definition` "\w+"\./g;
const REGISTRY = `/** The table of events: \`npm run types\` writes this from gradbox/wire/events.py, which says what the fields mean. */

interface EventRow {
  severity: "error" | "warning" | "note" | "info";
  observed?: boolean;
  sentence?: string;
  mark?: string;
  state?: string;
  opening?: number;
  in_visits?: boolean;
  implied?: boolean;
  /** the fields that hold a uid */
  refs: string[];
}

/** by the event's name; a newer trace may hold others */
export const EVENTS: Record<string, EventRow | undefined> = {
`;
/** What every trace of ours has, although a reader has to bear its absence. */
const ALWAYS = { Trace: ["schema", "steps"], Step: ["depth", "set", "gone", "log"] };

const python = existsSync(".venv/bin/python") ? ".venv/bin/python" : "python3";
const PRINT =
  "import json; from gradbox.wire import schema; print(json.dumps([schema.schema_document(), schema.event_table()]))";
const [schema, events] = JSON.parse(execFileSync(python, ["-c", PRINT], { encoding: "utf8" }));

/** Whether a part of the schema is null. */
const isNull = (part) => part.type === "null";

/** Draft 2020-12 in the words that the compiler knows. */
function reworded(part) {
  if (Array.isArray(part)) return part.map(reworded);
  if (part === null || typeof part !== "object") return part;
  const { prefixItems, default: _, ...rest } = part;
  const out = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, reworded(value)]));
  return prefixItems ? { ...out, items: prefixItems.map(reworded) } : out;
}

/** A field as it stands in the state, where null does not. */
function present(field) {
  const some = field.anyOf?.filter((part) => !isNull(part));
  if (!some || some.length === field.anyOf.length) return field;
  return some.length === 1 ? some[0] : { ...field, anyOf: some };
}

function prepared(schema) {
  const out = reworded(schema);
  const { $defs } = out;
  for (const { $ref } of $defs.Entity.anyOf) {
    const entity = $defs[$ref.split("/").at(-1)];
    for (const name of Object.keys(entity.properties)) entity.properties[name] = present(entity.properties[name]);
    entity.required = ["kind"];
  }
  $defs.Step.properties.set = { ...$defs.Step.properties.set, tsType: "{ [uid: string]: Delta }" };
  for (const [name, fields] of Object.entries(ALWAYS)) {
    const model = name === "Trace" ? out : $defs[name];
    model.required = [...model.required, ...fields];
  }
  return out;
}

async function declarations() {
  const text = await compile(prepared(schema), "Trace", {
    bannerComment: BANNER,
    additionalProperties: false,
    unreachableDefinitions: true,
    ignoreMinAndMaxItems: true,
  });
  return (text + DELTA).replace(USE, "").replace(/\/\*\*\n \*\/\n/g, "");
}

/** The table of events, a row a line, without what is not set. */
function registry() {
  const rows = Object.entries(events).map(([name, row]) => {
    const set = Object.entries(row).filter(([, value]) => value !== null && value !== false);
    return `  ${name}: { ${set.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")} },\n`;
  });
  return `${REGISTRY}${rows.join("")}};\n`;
}

const files = { "static/js/trace/wire.ts": await declarations(), "static/js/trace/registry.ts": registry() };
for (const [file, text] of Object.entries(files)) {
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    console.error(`${file} is not what the wire says`);
    process.exitCode = 1;
  }
}
