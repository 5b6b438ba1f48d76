// The server's clock, as its answers tell it: a deadline is the server's, whatever this device's clock says.

/** Milliseconds that the server's clock is ahead of this one. */
let ahead = 0;

/**
 * An answer told the server's time, in whole seconds.
 *
 * It was made between asking and hearing: that bounds how far ahead the server's clock is.
 */
export function heardTime(date: string | null, askedAt: number, heardAt = Date.now()): void {
  const told = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(told)) return;
  ahead = Math.min(Math.max(ahead, told - heardAt), told + 1_000 - askedAt);
}

/** Now, by the server's clock. */
export const serverNow = () => Date.now() + ahead;
