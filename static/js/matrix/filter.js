/** The filter of the matrix: words of a statement, and properties with a verdict, as `storage:yes`. */

/**
 * @typedef {"yes" | "no" | "not_applicable" | "raises"} Verdict
 * @typedef {{text: string, verdicts: Map<string, Verdict>}} RowFacts
 *   text: its name and statement, in lower case; verdicts: by property; none where the operation itself raises
 * @typedef {{name: string, label: string}} Property label: what its column is called, in the reader's language
 * @typedef {{words: string[], verdicts: {property: string, verdict: Verdict}[]}} Filter
 */

/** What may stand behind the colon. @type {Record<string, Verdict>} */
const VERDICTS = {
  yes: "yes",
  no: "no",
  none: "not_applicable",
  raises: "raises",
  是: "yes",
  否: "no",
  无: "not_applicable",
  报错: "raises",
};

/** @param {string} text as the reader wrote it @param {Property[]} properties @returns {Filter} */
export function readFilter(text, properties) {
  /** @type {Filter} */
  const filter = { words: [], verdicts: [] };
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [name, value] = word.replace("：", ":").split(":");
    const property = value === undefined ? undefined : findProperty(name, properties);
    const verdict = VERDICTS[value ?? ""];
    if (property && verdict) filter.verdicts.push({ property: property.name, verdict });
    else filter.words.push(word);
  }
  return filter;
}

/** By its name, else by how its label begins. @param {string} name @param {Property[]} properties */
function findProperty(name, properties) {
  const hasLabelPrefix = (/** @type {Property} */ { label }) => label.toLowerCase().replace(/\s/g, "").startsWith(name);
  return properties.find((property) => property.name === name) ?? (name ? properties.find(hasLabelPrefix) : undefined);
}

/** Whether a row has all that is asked for. @param {Filter} filter @param {RowFacts} row */
export function matchesFilter({ words, verdicts }, row) {
  return (
    words.every((word) => row.text.includes(word)) &&
    verdicts.every(({ property, verdict }) => (row.verdicts.get(property) ?? "raises") === verdict)
  );
}
