// Strips of a height, as sorted pairs from a beginning to an end.

export type Span = [from: number, to: number];

/** The same strips, in order, none touching another. */
export function joined(spans: Span[]): Span[] {
  const found: Span[] = [];
  for (const [from, to] of [...spans].sort((one, other) => one[0] - other[0])) {
    const last = found.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

/** Where the first strip begins that joined spans leave out of a height; null where they leave none. */
export function lacking(spans: Span[], height: number, rounding: number): number | null {
  let end = 0;
  for (const [from, to] of spans) {
    if (from > end + rounding) break;
    end = Math.max(end, to);
  }
  return end >= height - rounding ? null : end;
}
