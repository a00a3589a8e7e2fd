/** The picture's code in a V8 context of its own, where there is neither document nor Node. */

import vm from "node:vm";
import { build } from "esbuild";
import { SCRIPT } from "../../bundle.mjs";

export async function bare(
  draws: "stageSvg" | "loomSvg" | "thumbnailSvg" = "stageSvg",
): Promise<(trace: any, step?: number | null, look?: any) => string> {
  const { outputFiles } = await build({
    ...SCRIPT,
    entryPoints: ["static/js/picture/picture.ts"],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "picture",
    logLevel: "silent",
  });
  const context = vm.createContext(Object.create(null));
  vm.runInContext(outputFiles[0].text, context);
  const draw = vm.runInContext(`(job) => picture.${draws}(...JSON.parse(job))`, context);
  return (trace, step = null, look = {}) => draw(JSON.stringify([trace, step, look]));
}
