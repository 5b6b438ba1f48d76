// Times by the reader's locale, and a clock that ticks for who shows one.

import { useSyncExternalStore } from "react";
import { serverNow } from "./clock";

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

export const inWords = (at: string) => (at === "" ? "" : moment.format(new Date(at)));
export const exactly = (at: string) => exact.format(new Date(at));
/** A day without a time of day, as a record has it. */
export const dayInWords = (date: string) => (/^\d{4}-\d\d-\d\d$/.test(date) ? day.format(new Date(`${date}T00:00:00Z`)) : date);
export const count = (value: number) => number.format(value);

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]];

/** How long ago a moment was, in its largest unit. */
export function ago(at: string, now: number): string {
  // Clocks differ by seconds: what has happened is never to come.
  const away = Math.min(0, new Date(at).getTime() - now);
  for (const [unit, ms] of UNITS) {
    if (Math.abs(away) >= ms || unit === "second") return relative.format(Math.trunc(away / ms), unit);
  }
  return "";
}

/** What is left, as 23:59:08. */
export function left(until: string, now: number): string {
  const seconds = Math.max(0, Math.floor((new Date(until).getTime() - now) / 1_000));
  const two = (part: number) => String(part).padStart(2, "0");
  return `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function ticker(everyMs: number) {
  let now = serverNow();
  const told = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    subscribe(tell: () => void) {
      told.add(tell);
      timer ??= setInterval(() => {
        now = serverNow();
        for (const each of told) each();
      }, everyMs);
      return () => {
        told.delete(tell);
        if (told.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    now: () => (timer === undefined ? (now = Math.floor(serverNow() / everyMs) * everyMs) : now),
  };
}

const seconds = ticker(1_000);
const halfMinutes = ticker(30_000);

export const useSecond = () => useSyncExternalStore(seconds.subscribe, seconds.now);
export const useHalfMinute = () => useSyncExternalStore(halfMinutes.subscribe, halfMinutes.now);
