/** Paths through points. */

/** A path's commands from point to point, its corners rounded. @param {[number, number][]} points @param {number} r the corners' radius */
export function roundedPath(points, r) {
  let d = `M${points[0][0]} ${points[0][1]}`;
  for (let i = 1; i < points.length; i++) {
    const [x, y] = points[i];
    const after = points[i + 1];
    if (!after) {
      d += `L${x} ${y}`;
      continue;
    }
    const [px, py] = points[i - 1];
    const k = Math.min(r, Math.hypot(x - px, y - py) / 2, Math.hypot(after[0] - x, after[1] - y) / 2);
    const back = [x - Math.sign(x - px) * k, y - Math.sign(y - py) * k];
    const on = [x + Math.sign(after[0] - x) * k, y + Math.sign(after[1] - y) * k];
    d += `L${back[0]} ${back[1]}Q${x} ${y} ${on[0]} ${on[1]}`;
  }
  return d;
}
