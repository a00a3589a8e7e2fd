/** The arguments of a call as a statement writes them. */

/**
 * The texts of the arguments of the first call, in a statement, of a function whose name ends in what the pattern
 * `name` matches. Null where there is no such call, or its end is not in the text.
 */
export function callArguments(code: string, name: string): string[] | null {
  const match = new RegExp(String.raw`(?<![\w])${name}\(`).exec(code);
  if (!match) return null;
  const args: string[] = [];
  let [depth, start] = [0, match.index + match[0].length];
  for (let k = start; k < code.length; k++) {
    const character = code[k];
    if (depth === 0 && (character === "," || character === ")")) {
      const text = code.slice(start, k).trim();
      if (text) args.push(text);
      if (character === ")") return args;
      start = k + 1;
    } else if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth--;
  }
  return null;
}
