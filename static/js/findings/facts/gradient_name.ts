/** The name of a tensor's gradient. */

import { codeFact, type Fact } from "../finding.ts";

/** `x.grad` of what is called `x`; of a tensor without a name, what stands for it. */
export function gradNameOf(name: Fact): Fact {
  if (typeof name !== "object" || !("code" in name)) return name;
  return { ...codeFact(`${name.code}.grad`), ...(name.also ? { also: `${name.also}.grad` } : {}) };
}

/** A name without the marks of code. */
export function plainName(name: Fact) {
  return typeof name === "object" && "code" in name ? name.code : "";
}
