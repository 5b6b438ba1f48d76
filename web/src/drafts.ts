// What is being written, kept in memory while pages, cards and chats come and go; never stored, and gone with its writer.

import { useSyncExternalStore } from "react";

const drafts = new Map<string, string>();
const told = new Set<() => void>();

export const draftOf = (place: string) => drafts.get(place) ?? "";

export function keepDraft(place: string, text: string): void {
  if (text === "") drafts.delete(place);
  else drafts.set(place, text);
  for (const tell of told) tell();
}

export function forgetDrafts(): void {
  drafts.clear();
  for (const tell of told) tell();
}

function subscribe(tell: () => void) {
  told.add(tell);
  return () => void told.delete(tell);
}

/** The draft of a place, and how it is changed; empty when it was sent. */
export function useDraft(place: string): [string, (text: string) => void] {
  const text = useSyncExternalStore(subscribe, () => draftOf(place));
  return [text, (next) => keepDraft(place, next)];
}
