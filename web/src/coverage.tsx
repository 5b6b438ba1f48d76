// What an approval covers has been on the screen, to its end, before the approval can be given.
// Each part of a card ends in a mark; a mark counts when it was in view while the page was.

import { useCallback, useEffect, useRef, useState, type ReactNode } from "react";

const MARK = "covered-end";
/** What lies under the page's own header is not in view. */
const IN_VIEW: IntersectionObserverInit = { rootMargin: "-96px 0px 0px 0px" };

/** The end of something that must have been seen. */
export function CoveredEnd() {
  return <span className={MARK} aria-hidden="true" />;
}

export function Covered({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <div className={`covered ${className}`} tabIndex={-1}>
      {children}
      <CoveredEnd />
    </div>
  );
}

/** @param isWhole whether all parts are there; before, nothing is covered. */
export function useCoverage(isWhole: boolean) {
  const card = useRef<HTMLElement>(null);
  const seen = useRef(new WeakSet<Element>());
  const watched = useRef(new WeakSet<Element>());
  const [covered, setCovered] = useState(false);

  const marks = useCallback(() => [...(card.current?.querySelectorAll(`.${MARK}`) ?? [])], []);
  const measure = useCallback(() => {
    const all = marks();
    setCovered(all.length > 0 && all.every((mark) => seen.current.has(mark)));
  }, [marks]);

  const observer = useRef<IntersectionObserver>(undefined);
  useEffect(() => {
    const made = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) seen.current.add(entry.target);
      measure();
    }, IN_VIEW);
    observer.current = made;
    return () => {
      made.disconnect();
      watched.current = new WeakSet();
    };
  }, [measure]);

  // After every drawing: a part that came later is to be seen too.
  useEffect(() => {
    for (const mark of marks()) {
      if (watched.current.has(mark)) continue;
      watched.current.add(mark);
      observer.current?.observe(mark);
    }
    measure();
  });

  const showNext = useCallback(() => {
    const next = marks().find((mark) => !seen.current.has(mark));
    const part = next?.closest<HTMLElement>(".covered");
    next?.scrollIntoView({ block: "center", behavior: "auto" });
    part?.focus({ preventScroll: true });
  }, [marks]);

  return { card, covered: covered && isWhole, showNext };
}
