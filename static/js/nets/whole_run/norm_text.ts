/** How a whole run writes norms and losses: to three digits, so that neighbours can be compared. */

/** `3.66`, `2.10`, `0.388`, `27.2`. */
export function normText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "−inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-4) return value.toExponential(1).replace("+", "").replace(/^-/, "−");
  return (size >= 1000 ? value.toFixed(0) : value.toPrecision(3)).replace(/^-/, "−");
}
