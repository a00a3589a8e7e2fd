/** How a net writes shapes and norms. */

/** `2×6×16`; a tensor of no dimension is a scalar. */
export function shapeText(shape: number[]): string {
  return shape.length ? shape.join("×") : "scalar";
}

/** A norm with two or three digits: `1.24`, `0.091`, `3e-7`. */
export function normText(norm: number): string {
  if (!Number.isFinite(norm)) return Number.isNaN(norm) ? "nan" : "inf";
  if (norm === 0) return "0";
  if (norm >= 1e5 || norm < 1e-3) return norm.toExponential(0).replace("+", "");
  if (norm >= 100) return norm.toFixed(0);
  return norm >= 1 ? norm.toFixed(2) : norm.toPrecision(2);
}
