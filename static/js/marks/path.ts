/** Paths through points. */

/** A path's commands from point to point, its corners rounded. @param r the corners' radius */
export function roundedPath(points: [number, number][], r: number) {
  let d = `M${points[0][0]} ${points[0][1]}`;
  for (let i = 1; i < points.length; i++) {
    const [x, y] = points[i];
    const nextPoint = points[i + 1];
    if (!nextPoint) {
      d += `L${x} ${y}`;
      continue;
    }
    const [px, py] = points[i - 1];
    const cornerRadius = Math.min(
      r,
      Math.hypot(x - px, y - py) / 2,
      Math.hypot(nextPoint[0] - x, nextPoint[1] - y) / 2,
    );
    const cornerStart = [x - Math.sign(x - px) * cornerRadius, y - Math.sign(y - py) * cornerRadius];
    const cornerEnd = [x + Math.sign(nextPoint[0] - x) * cornerRadius, y + Math.sign(nextPoint[1] - y) * cornerRadius];
    d += `L${cornerStart[0]} ${cornerStart[1]}Q${x} ${y} ${cornerEnd[0]} ${cornerEnd[1]}`;
  }
  return d;
}
