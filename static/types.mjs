/**
 * Writes static/js/trace.d.ts from the schema of the trace; with --check only says whether it is current.
 *
 * An entity is declared as it stands in the state, where an absent field is missing; in a step's `set` it is a `Delta`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

const FILE = "static/js/trace.d.ts";
const BANNER = "/** The trace as TypeScript: `npm run types` writes this from the schema. */";
const DELTA = `
type FieldName<T> = T extends T ? keyof T : never;
type FieldType<T, F> = T extends T ? (F extends keyof T ? T[F] : never) : never;
/** The fields of an entity that a step changes, whichever kind it is of; null takes a field away. */
export type Delta = { [F in FieldName<Entity>]?: FieldType<Entity, F> | null };
`;
/** What every trace of ours has, although a reader has to bear its absence. */
const ALWAYS = { Trace: ["schema", "steps"], Step: ["depth", "set", "gone", "log"] };

const python = existsSync(".venv/bin/python") ? ".venv/bin/python" : "python3";
const schema = JSON.parse(execFileSync(python, ["-m", "server", "schema"], { encoding: "utf8" }));

/** Whether a part of the schema is null. @param {any} part */
const isNull = (part) => part.type === "null";

/** Draft 2020-12 in the words that the compiler knows. @param {any} part @returns {any} */
function reworded(part) {
  if (Array.isArray(part)) return part.map(reworded);
  if (part === null || typeof part !== "object") return part;
  const { prefixItems, default: _, ...rest } = part;
  const out = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, reworded(value)]));
  return prefixItems ? { ...out, items: prefixItems.map(reworded) } : out;
}

/** A field as it stands in the state, where null does not. @param {any} field */
function present(field) {
  const some = field.anyOf?.filter((/** @type {any} */ part) => !isNull(part));
  if (!some || some.length === field.anyOf.length) return field;
  return some.length === 1 ? some[0] : { ...field, anyOf: some };
}

/** @param {any} schema */
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

const text =
  (await compile(prepared(schema), "Trace", {
    bannerComment: BANNER,
    additionalProperties: false,
    unreachableDefinitions: true,
    ignoreMinAndMaxItems: true,
  })) + DELTA;
/** Where a definition is used: the compiler says so above each. */
const USE = /\n \*(?:\n \*)? This interface was referenced by `\w+`'s JSON-Schema\n \* via the `definition` "\w+"\./g;
const plain = text.replace(USE, "").replace(/\/\*\*\n \*\/\n/g, "");
if (!process.argv.includes("--check")) {
  writeFileSync(FILE, plain);
} else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== plain) {
  console.error(`${FILE} is not what the schema says`);
  process.exit(1);
}
