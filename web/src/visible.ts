// Foreign text: what cannot be seen is shown as what it is (src/condor/cli/visible.py has the same law).

const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFFA0\u{E0000}-\u{E0FFF}]/gu;

export interface Piece {
  text: string;
  hidden: boolean;
}

/** The name of a character as code points are written. */
export function named(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A line as pieces that are drawn as they are, and characters that would hide or reorder. */
export function pieces(line: string): Piece[] {
  const found: Piece[] = [];
  let last = 0;
  for (const match of line.matchAll(HIDDEN)) {
    if (match.index > last) found.push({ text: line.slice(last, match.index), hidden: false });
    found.push({ text: named(match[0]), hidden: true });
    last = match.index + match[0].length;
  }
  if (last < line.length) found.push({ text: line.slice(last), hidden: false });
  return found;
}

/** Foreign text on one line of plain text, for attributes and places that take no elements. */
export function visible(text: string): string {
  return pieces(text).map((piece) => (piece.hidden ? `<${piece.text}>` : piece.text)).join("");
}

/** A word of a closed vocabulary (an op, a key, an id): look-alikes outside ASCII are named too. */
export function visibleWord(text: string): string {
  return [...text].map((char) => (char >= " " && char <= "~" ? char : `<${named(char)}>`)).join("");
}
