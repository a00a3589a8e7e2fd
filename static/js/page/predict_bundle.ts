/** Predict mode of a page of the server's: script and sentences of their own, fetched once somebody predicts. */

import { loadPredictLocale } from "../words/page_locale.ts";

export async function loadPredict() {
  const predict = await import("../predict/predict.ts");
  return { ...predict, sentences: async () => (await loadPredictLocale(document.documentElement.lang)).say };
}
