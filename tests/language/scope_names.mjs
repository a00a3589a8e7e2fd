/** Of each program in a file: by function, the names that its statements read and bind; the module is function -1. */

import { readFileSync } from "node:fs";
import { nameUses } from "../../static/js/syntax/name_uses.ts";
import { functionAround } from "../../static/js/syntax/statements.ts";
import { statementTrees } from "../../static/js/syntax/tree.ts";

const programs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const scopesOf = (program) => {
  const scopes = {};
  const scopeOf = (stmt) => {
    scopes[stmt] ??= [new Set(), new Set()];
    return scopes[stmt];
  };
  statementTrees(program).forEach((tree, stmt) => {
    const { kind, parent } = program.statements[stmt];
    const owner = functionAround(program, stmt);
    const uses = nameUses(tree);
    const [read, bound] = scopeOf(owner);
    for (const name of uses.read.keys()) read.add(name);
    if (program.statements[parent]?.kind !== "ClassDef") for (const name of uses.bound.keys()) bound.add(name);
    if (kind.endsWith("FunctionDef")) scopeOf(stmt);
  });
  return Object.fromEntries(Object.entries(scopes).map(([stmt, sets]) => [stmt, sets.map((set) => [...set])]));
};
process.stdout.write(JSON.stringify(programs.map(scopesOf)));
