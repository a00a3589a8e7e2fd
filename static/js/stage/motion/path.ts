/** Points along the path of an edge: as much of SVG's paths as the marks use. */

export type Point = [number, number];

/** How many numbers each command takes. */
const NUMBERS_OF_COMMAND: Record<string, number> = { m: 2, l: 2, h: 1, v: 1, c: 6, q: 4, a: 7, z: 0 };
/** A curve is as many straight lines. */
const LINES_OF_CURVE = 6;

/** The corners of a path; curves become straight lines, an arc the one to its end. */
export function pathPoints(d: string): Point[] {
  const out: Point[] = [];
  let [x, y] = [0, 0];
  for (const [, letter, text] of d.matchAll(/([a-zA-Z])([^a-zA-Z]*)/g)) {
    const command = letter.toLowerCase();
    const isRelative = letter === command;
    const numbers = (text.match(/-?(?:\d+\.?\d*|\.\d+)/g) ?? []).map(Number);
    const size = NUMBERS_OF_COMMAND[command];
    if (!size) continue;
    for (let k = 0; k + size <= numbers.length; k += size) {
      const values = numbers.slice(k, k + size);
      const pointAt = (i: number): Point => [values[i] + (isRelative ? x : 0), values[i + 1] + (isRelative ? y : 0)];
      if (command === "h") x = values[0] + (isRelative ? x : 0);
      else if (command === "v") y = values[0] + (isRelative ? y : 0);
      else {
        const end = pointAt(size - 2);
        if (command === "c" || command === "q") {
          const controls = command === "c" ? [pointAt(0), pointAt(2)] : [pointAt(0)];
          for (let n = 1; n < LINES_OF_CURVE; n++)
            out.push(pointOfCurve([[x, y], ...controls, end], n / LINES_OF_CURVE));
        }
        [x, y] = end;
      }
      out.push([x, y]);
    }
  }
  return out;
}

/** De Casteljau's way to a point of a Bézier curve. */
function pointOfCurve(points: Point[], share: number): Point {
  if (points.length === 1) return points[0];
  const between = points
    .slice(1)
    .map(([x, y], k): Point => [points[k][0] + (x - points[k][0]) * share, points[k][1] + (y - points[k][1]) * share]);
  return pointOfCurve(between, share);
}

export function distance([x0, y0]: Point, [x1, y1]: Point) {
  return Math.hypot(x1 - x0, y1 - y0);
}

/**
 * The way along the points from the first to where they are level with another, else to where they come nearest to it.
 */
export function pathUpTo(points: Point[], goal: Point): Point[] {
  let best = { k: 0, at: points[0], isLevel: false, far: distance(points[0], goal) };
  for (let k = 1; k < points.length; k++) {
    const [[x0, y0], [x1, y1]] = [points[k - 1], points[k]];
    const isLevel = y0 !== y1 && Math.min(y0, y1) <= goal[1] && goal[1] <= Math.max(y0, y1);
    const at: Point = isLevel
      ? [x0 + ((x1 - x0) * (goal[1] - y0)) / (y1 - y0), goal[1]]
      : nearestOnLine(points[k - 1], points[k], goal);
    const far = distance(at, goal);
    if (isLevel === best.isLevel ? far < best.far : isLevel) best = { k, at, isLevel, far };
  }
  return [...points.slice(0, best.k), best.at];
}

function nearestOnLine(a: Point, b: Point, goal: Point): Point {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const length = dx * dx + dy * dy;
  const share = length ? Math.max(0, Math.min(1, ((goal[0] - a[0]) * dx + (goal[1] - a[1]) * dy) / length)) : 0;
  return [a[0] + dx * share, a[1] + dy * share];
}

/** By the share of the way that lies behind it, from 0 to 1, each of the points. */
export function fractionsAlongPath(points: Point[]): { share: number; at: Point }[] {
  const lengths = points.map((point, k) => (k ? distance(points[k - 1], point) : 0));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let sum = 0;
  return points.map((at, k) => {
    sum += lengths[k];
    return { share: total ? sum / total : k ? 1 : 0, at };
  });
}
