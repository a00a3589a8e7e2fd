/** The types of `diagnosis.ts`, where new files take them from. */

export type { DiagnosisRow, LookedForName } from "./diagnosis.ts";
