/** The lines of code without steps, as in a module that is not recorded, at which the links of a finding happened. */

import { unsteppedCause, type ChainLink, type Finding, type UnsteppedPlace } from "./finding.ts";
import type { RunFacts } from "./facts/run_facts.ts";
import type { CodePlace } from "../trace/wire.ts";

/** what happened at a step, with the entities that it concerns */
interface PlacedFact {
  uids: (string | null | undefined)[];
  place: UnsteppedPlace | null;
}

/** The finding with the place of each link that has one, and with the module that another run could follow. */
export function withUnsteppedPlaces(finding: Finding, facts: RunFacts): Finding {
  const chain = finding.chain.map((link) => {
    const place = placeOfLink(facts, finding, link);
    return place ? { ...link, place } : link;
  });
  const places = [unsteppedCause({ ...finding, chain }), ...chain.map(({ place }) => place)];
  const module = finding.facts.unstepped_module || places.find((place) => place?.module)?.module;
  if (!module) return { ...finding, chain };
  const isOwnProcess = facts.trace.runtime.recorded === "own process";
  return {
    ...finding,
    chain,
    facts: { ...finding.facts, unstepped_module: module, is_own_process: Number(isOwnProcess) },
  };
}

function placeOfLink(facts: RunFacts, finding: Finding, link: ChainLink): UnsteppedPlace | null {
  if (link.role === "cut") return commonPlace(link, cutsAt(facts, link.step));
  if (link.role === "starts" || link.role === "released") return commonPlace(link, backwardsAt(facts, link.step));
  const isWhereItRaised =
    link.role === "checked" && finding.explainsError && [facts.errorStep, facts.failedVisit?.step].includes(link.step);
  return isWhereItRaised ? unsteppedPlace(facts.error?.place) : null;
}

/**
 * The place of what concerns the entities of a link, else of all that happened at its step; null where that is several.
 */
function commonPlace({ uids }: ChainLink, happened: PlacedFact[]): UnsteppedPlace | null {
  const concerned = happened.filter((fact) => fact.uids.some((uid) => uid && uids.includes(uid)));
  const [first, ...others] = (concerned.length ? concerned : happened).map(({ place }) => place);
  return others.every((place) => JSON.stringify(place) === JSON.stringify(first)) ? (first ?? null) : null;
}

function cutsAt(facts: RunFacts, step: number): PlacedFact[] {
  const cuts = facts.eventsOfKind("path_cut").filter((cut) => cut.step === step);
  const observed = cuts.map(({ tensor, result, place, reason }) => ({
    uids: [result ?? tensor],
    place: unsteppedPlace(place, reason === "detach" || reason === "data"),
  }));
  const operations = facts.opsAt(step).filter(({ place }) => place);
  return [...observed, ...operations.map(({ outputs, place }) => ({ uids: outputs, place: unsteppedPlace(place) }))];
}

function backwardsAt(facts: RunFacts, step: number): PlacedFact[] {
  const calls = facts.backwardCalls.filter((call) => call.step === step);
  return calls.map(({ roots, place }) => ({ uids: roots, place: unsteppedPlace(place) }));
}

/** `isOfUse`: the line is the first that used what a line before it made. */
function unsteppedPlace(place: CodePlace | null | undefined, isOfUse = false): UnsteppedPlace | null {
  return place ? { ...place, isOfUse } : null;
}
