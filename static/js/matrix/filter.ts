/** The filter of the matrix: words of a statement, and properties with a verdict, as `storage:yes`. */

export type CellVerdict = "yes" | "no" | "not_applicable" | "raises";

export interface MatrixRowFacts {
  /** its name and statement, in lower case */
  text: string;
  /** by property; none where the operation itself raises */
  verdicts: Map<string, CellVerdict>;
}

interface FilterProperty {
  name: string;
  /** what its column is called, in the reader's language */
  label: string;
}

export interface MatrixFilter {
  words: string[];
  verdicts: { property: string; verdict: CellVerdict }[];
}

/** What may stand behind the colon. */
const VERDICT_BY_WORD: Record<string, CellVerdict> = {
  yes: "yes",
  no: "no",
  none: "not_applicable",
  raises: "raises",
  是: "yes",
  否: "no",
  无: "not_applicable",
  报错: "raises",
};

/** Reads the text that the reader wrote. */
export function parseMatrixFilter(text: string, properties: FilterProperty[]): MatrixFilter {
  const filter: MatrixFilter = { words: [], verdicts: [] };
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [name, value] = word.replace("：", ":").split(":");
    const property = value === undefined ? undefined : findPropertyByNameOrLabel(name, properties);
    const verdict = VERDICT_BY_WORD[value ?? ""];
    if (property && verdict) filter.verdicts.push({ property: property.name, verdict });
    else filter.words.push(word);
  }
  return filter;
}

/** By its name, else by how its label begins. */
function findPropertyByNameOrLabel(name: string, properties: FilterProperty[]) {
  const hasLabelPrefix = ({ label }: FilterProperty) => label.toLowerCase().replace(/\s/g, "").startsWith(name);
  return properties.find((property) => property.name === name) ?? (name ? properties.find(hasLabelPrefix) : undefined);
}

/** Whether a row has all that is asked for. */
export function doesRowMatchFilter({ words, verdicts }: MatrixFilter, row: MatrixRowFacts) {
  return (
    words.every((word) => row.text.includes(word)) &&
    verdicts.every(({ property, verdict }) => (row.verdicts.get(property) ?? "raises") === verdict)
  );
}
