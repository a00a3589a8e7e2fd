/** The filter of the matrix: words of a statement, and properties with a verdict, as `storage:yes`. */

export type Verdict = "yes" | "no" | "not_applicable" | "raises";

export interface RowFacts {
  /** its name and statement, in lower case */
  text: string;
  /** by property; none where the operation itself raises */
  verdicts: Map<string, Verdict>;
}

interface Property {
  name: string;
  /** what its column is called, in the reader's language */
  label: string;
}

export interface Filter {
  words: string[];
  verdicts: { property: string; verdict: Verdict }[];
}

/** What may stand behind the colon. */
const VERDICTS: Record<string, Verdict> = {
  yes: "yes",
  no: "no",
  none: "not_applicable",
  raises: "raises",
  是: "yes",
  否: "no",
  无: "not_applicable",
  报错: "raises",
};

/** @param text as the reader wrote it */
export function readFilter(text: string, properties: Property[]): Filter {
  const filter: Filter = { words: [], verdicts: [] };
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [name, value] = word.replace("：", ":").split(":");
    const property = value === undefined ? undefined : findProperty(name, properties);
    const verdict = VERDICTS[value ?? ""];
    if (property && verdict) filter.verdicts.push({ property: property.name, verdict });
    else filter.words.push(word);
  }
  return filter;
}

/** By its name, else by how its label begins. */
function findProperty(name: string, properties: Property[]) {
  const hasLabelPrefix = ({ label }: Property) => label.toLowerCase().replace(/\s/g, "").startsWith(name);
  return properties.find((property) => property.name === name) ?? (name ? properties.find(hasLabelPrefix) : undefined);
}

/** Whether a row has all that is asked for. */
export function matchesFilter({ words, verdicts }: Filter, row: RowFacts) {
  return (
    words.every((word) => row.text.includes(word)) &&
    verdicts.every(({ property, verdict }) => (row.verdicts.get(property) ?? "raises") === verdict)
  );
}
