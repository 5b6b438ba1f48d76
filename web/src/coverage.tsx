// What an approval covers has been on the screen, all of it, before the approval can be given.
// Law: a strip of a card counts when it has stood in view for a moment, under no header and behind no bar;
// what a jump passes over does not. Nothing but scrolling through is asked for.

import { useCallback, useEffect, useId, useRef, useState, type ReactNode } from "react";
import { joined, lacking, type Span } from "./spans";

/** Milliseconds that a strip stands in view before it counts: longer than a jump's animation, shorter than a glance. */
export const GLANCE_MS = 250;
/** Pixels of the last screen that stand on the next one too: a line that was cut is whole there. */
const OVERLAP_PX = 48;
/** Pixels of rounding at the edges of a part. */
const ROUNDING_PX = 2;

/** A part of what an approval covers. */
export function Covered({ children, className = "" }: { children: ReactNode; className?: string }) {
  return <div className={`covered ${className}`}>{children}</div>;
}

/** How much of a part has been seen, in pixels from its top. */
interface Seen {
  width: number;
  height: number;
  spans: Span[];
  /** What stood in view, latest last, and since when. */
  looks: { at: number; span: Span | null }[];
}

/** From where to where the page shows a card: under its header, above whatever sticks to its foot. */
function viewOf(card: HTMLElement): Span {
  const seen = window.visualViewport;
  const top = seen?.offsetTop ?? 0;
  const header = document.querySelector("header.shell")?.getBoundingClientRect().bottom ?? 0;
  const feet = [...card.querySelectorAll(".unread"), ...document.querySelectorAll(".chat-foot:not(.resting)")];
  const ends = feet.map((foot) => foot.getBoundingClientRect().top);
  return [Math.max(top, header), Math.min(top + (seen?.height ?? window.innerHeight), ...ends)];
}

export type Coverage = ReturnType<typeof useCoverage>;

/** @param isWhole whether all parts are there; before, nothing is covered. */
export function useCoverage(isWhole: boolean) {
  const card = useRef<HTMLElement>(null);
  const unread = useId();
  const kept = useRef(new WeakMap<Element, Seen>());
  const [covered, setCovered] = useState(false);
  const later = useRef<ReturnType<typeof setTimeout>>(undefined);

  const parts = useCallback(() => [...(card.current?.querySelectorAll<HTMLElement>(".covered") ?? [])], []);

  const look = useCallback(() => {
    clearTimeout(later.current);
    if (card.current === null) return;
    const view = viewOf(card.current);
    const now = performance.now();
    let whole = true;
    let again = false;
    for (const part of parts()) {
      const box = part.getBoundingClientRect();
      const seen = seenOf(kept.current, part, box);
      const from = Math.max(view[0] - box.top, 0);
      const to = Math.min(view[1] - box.top, box.height);
      const inView = !document.hidden && box.height > 0 && to > from;
      seen.looks.push({ at: now, span: inView ? [from, to] : null });
      const steady = steadySince(seen.looks, now - GLANCE_MS);
      if (steady !== null) seen.spans = joined([...seen.spans, steady]);
      if (lacking(seen.spans, box.height, ROUNDING_PX) === null) continue;
      whole = false;
      again ||= inView;
    }
    setCovered(whole && parts().length > 0);
    if (again) later.current = setTimeout(look, GLANCE_MS + 10);
  }, [parts]);

  useEffect(() => {
    const places: [EventTarget, string][] = [
      [window, "scroll"],
      [window, "resize"],
      [document, "visibilitychange"],
      ...(window.visualViewport === null ? [] : (["scroll", "resize"].map((name) => [window.visualViewport, name]) as [EventTarget, string][])),
    ];
    for (const [target, name] of places) target.addEventListener(name, look, { passive: true, capture: true });
    // What comes later moves what stands below it.
    const sizes = new ResizeObserver(look);
    if (card.current !== null) sizes.observe(card.current);
    sizes.observe(document.body);
    return () => {
      for (const [target, name] of places) target.removeEventListener(name, look, { capture: true });
      sizes.disconnect();
      clearTimeout(later.current);
    };
  }, [look]);

  // After every drawing: a part that came later is to be seen too.
  useEffect(look);

  /** Go to the first strip that was not seen: its beginning, so that at most a screen of it comes into view. */
  const showNext = useCallback(() => {
    look();
    if (card.current === null) return;
    for (const part of parts()) {
      const box = part.getBoundingClientRect();
      const from = lacking(kept.current.get(part)?.spans ?? [], box.height, ROUNDING_PX);
      if (from === null) continue;
      window.scrollBy({ top: box.top + from - viewOf(card.current)[0] - OVERLAP_PX, behavior: "instant" });
      look();
      return;
    }
  }, [look, parts]);

  return { card, unread, covered: covered && isWhole, showNext };
}

/** What is kept of a part. One that is drawn otherwise and was not seen whole is seen anew: its lines have moved. */
function seenOf(kept: WeakMap<Element, Seen>, part: Element, { width, height }: DOMRect): Seen {
  const seen = kept.get(part);
  if (seen !== undefined && Math.abs(seen.width - width) < 1 && Math.abs(seen.height - height) < 1) return seen;
  // Whole before, and only of another width: no line of it is new.
  const stays = seen !== undefined && Math.abs(seen.width - width) >= 1 && lacking(seen.spans, seen.height, ROUNDING_PX) === null;
  const fresh: Seen = { width, height, spans: stays ? [[0, height]] : [], looks: [] };
  kept.set(part, fresh);
  return fresh;
}

/** What stood in view at every look since then; null where something did not. Forgets the looks before. */
function steadySince(looks: Seen["looks"], since: number): Span | null {
  const first = looks.findLastIndex(({ at }) => at <= since);
  if (first === -1) return null;
  looks.splice(0, first);
  let steady: Span | null = looks[0]?.span ?? null;
  for (const { span } of looks) {
    if (steady === null || span === null) return null;
    steady = [Math.max(steady[0], span[0]), Math.min(steady[1], span[1])];
    if (steady[1] <= steady[0]) return null;
  }
  return steady;
}
