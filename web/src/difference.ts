// Before and after of a record, as lines that stay, go and come: every line of both, none left out.

import type { Json } from "./wire";

export interface DiffLine {
  mark: " " | "-" | "+";
  /** Where in the record, as `status/code`; empty at the top. */
  path: string;
  text: string;
}

/** Lists beyond this product of lengths are compared whole: the table would not fit a phone's memory. */
const CELLS_MAX = 1_000_000;

export function diffLines(before: Json | undefined, after: Json | undefined): DiffLine[] {
  return compared(before ?? null, after ?? null, "");
}

const isObject = (value: Json): value is { [key: string]: Json } => value !== null && typeof value === "object" && !Array.isArray(value);
const under = (path: string, key: string) => (path === "" ? key : `${path}/${key}`);
export const oneLine = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));

function compared(before: Json, after: Json, path: string): DiffLine[] {
  if (isObject(before) && isObject(after)) {
    const keys = [...Object.keys(before), ...Object.keys(after).filter((key) => !Object.hasOwn(before, key))];
    return keys.flatMap((key) => compared(before[key] ?? null, after[key] ?? null, under(path, key)));
  }
  if (Array.isArray(before) && Array.isArray(after)) return comparedLists(before.map(oneLine), after.map(oneLine), path);
  if (JSON.stringify(before) === JSON.stringify(after)) return all(before, path, " ");
  return [...all(before, path, "-"), ...all(after, path, "+")];
}

function all(value: Json, path: string, mark: DiffLine["mark"]): DiffLine[] {
  if (value === null) return [];
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => all(item, under(path, key), mark));
  if (Array.isArray(value)) return value.map((item) => ({ mark, path, text: oneLine(item) }));
  return [{ mark, path, text: oneLine(value) }];
}

function comparedLists(before: string[], after: string[], path: string): DiffLine[] {
  const line = (mark: DiffLine["mark"]) => (text: string): DiffLine => ({ mark, path, text });
  if (before.length * after.length > CELLS_MAX) return [...before.map(line("-")), ...after.map(line("+"))];
  // Longest common subsequence: common[i][j] is its length from i and j on.
  const common = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    const row = common[i];
    if (row === undefined) continue;
    for (let j = after.length - 1; j >= 0; j--) row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const found: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]];
    if (old !== undefined && fresh !== undefined && old === fresh) {
      found.push(line(" ")(old));
      i++;
      j++;
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      found.push(line("-")(old));
      i++;
    } else if (fresh !== undefined) {
      found.push(line("+")(fresh));
      j++;
    }
  }
  return found;
}
