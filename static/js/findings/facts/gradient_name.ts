/** The name of a tensor's gradient. */

import { codeFact, type Fact } from "../finding.ts";

/** `x.grad` of what is called `x`; of a tensor without a name, what stands for it. */
export function gradNameOf(name: Fact): Fact {
  if (typeof name !== "object" || !("code" in name)) return name;
  const { code, also, isEarlier } = name;
  return {
    ...codeFact(`${code}.grad`),
    ...(also ? { also: `${also}.grad` } : {}),
    ...(isEarlier ? { isEarlier } : {}),
  };
}

/** A name without the marks of code. */
export function plainName(name: Fact) {
  return typeof name === "object" && "code" in name ? name.code : "";
}
