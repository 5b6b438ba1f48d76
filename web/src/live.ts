// What changes anywhere, as /api/events tells it: no record data, only that something is to be read again.
// Law: closed while the page is hidden (six connections an origin); whoever comes back reads everything again.

import { useSyncExternalStore } from "react";

export interface Change {
  runId: string;
  /** Absent where only the inbox changed. */
  seq?: number;
  status?: string;
}

export type Standing = "connecting" | "live" | "reconnecting" | "paused";

/** Milliseconds between tries after a refusal; a lost connection is the browser's own to take up. */
const AGAIN_MS = 3_000;

/** Milliseconds without a word after which a line counts as dead: the server says something every 5 seconds. */
const SILENCE_MS = 12_000;

let deadline: ReturnType<typeof setTimeout> | undefined;
let source: EventSource | null = null;
let standing: Standing = "connecting";
let again: ReturnType<typeof setTimeout> | undefined;
let wanted = false;
const changed = new Set<(change: Change) => void>();
const returned = new Set<() => void>();
const lost = new Set<() => void>();
const stood = new Set<() => void>();

function stand(as: Standing): void {
  standing = as;
  for (const tell of stood) tell();
}

/** The line lives, or is being made; counted from now on. */
function heard(): void {
  clearTimeout(deadline);
  deadline = setTimeout(dead, SILENCE_MS);
}

function dead(): void {
  close();
  stand("reconnecting");
  for (const tell of lost) tell();
  open();
}

function open(): void {
  if (!wanted || source !== null || document.hidden) return;
  clearTimeout(again);
  heard();
  source = new EventSource("/api/v1/events");
  source.addEventListener("alive", heard);
  source.addEventListener("ready", () => {
    heard();
    stand("live");
    for (const tell of returned) tell();
  });
  for (const kind of ["run", "inbox"]) {
    source.addEventListener(kind, (event) => {
      heard();
      const change = JSON.parse((event as MessageEvent<string>).data) as Change;
      for (const tell of changed) tell(change);
    });
  }
  source.addEventListener("error", () => {
    stand("reconnecting");
    if (source?.readyState !== EventSource.CLOSED) return;
    close();
    again = setTimeout(open, AGAIN_MS);
  });
}

function close(): void {
  clearTimeout(deadline);
  source?.close();
  source = null;
}

/** Follow changes from now on; the server sends what this principal may know of. */
export function startLive(): void {
  wanted = true;
  open();
}

export function stopLive(): void {
  wanted = false;
  clearTimeout(again);
  close();
}

document.addEventListener("visibilitychange", () => {
  if (!wanted) return;
  if (document.hidden) {
    close();
    stand("paused");
  } else {
    stand("connecting");
    open();
  }
});

window.addEventListener("offline", () => {
  if (source !== null) dead();
});
window.addEventListener("online", () => {
  if (standing !== "reconnecting") return;
  close();
  open();
});

/** The line is dead: nothing is heard on any other either. */
export function onLost(tell: () => void): () => void {
  lost.add(tell);
  return () => lost.delete(tell);
}

export function onChange(tell: (change: Change) => void): () => void {
  changed.add(tell);
  return () => changed.delete(tell);
}

/** Connected anew: what was missed is not told, so all is to be read again. */
export function onReturn(tell: () => void): () => void {
  returned.add(tell);
  return () => returned.delete(tell);
}

export function useStanding(): Standing {
  return useSyncExternalStore(
    (tell) => {
      stood.add(tell);
      return () => stood.delete(tell);
    },
    () => standing,
  );
}
