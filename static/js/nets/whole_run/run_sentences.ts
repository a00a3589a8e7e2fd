/** The headline of a whole run, in the page's language. */

import en from "../../../locales/net.en.json" with { type: "json" };
import zh from "../../../locales/net.zh.json" with { type: "json" };
import { createLocale } from "../../words/sentences.ts";
import { runHeadline } from "./run_headline.ts";
import type { OpenTrace } from "../../trace/state.ts";

/** Names stand in backticks; empty where nothing is said of the whole run. */
export function runSentences(opened: OpenTrace, language: string): { text: string; isBad: boolean }[] {
  const { said, below, tone } = runHeadline(opened, createLocale({ en, zh })(language).say);
  if (!said) return [];
  return [{ text: said, isBad: tone === "error" }, ...(below ? [{ text: below, isBad: false }] : [])];
}
