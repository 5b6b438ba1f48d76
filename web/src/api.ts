// The one way to the API: JSON in, JSON out, and a problem as an error with its stable code.

import { heardTime } from "./clock";
import type { Json, RunEvent } from "./wire";
import { words } from "./words";

export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly faults: { at: string; why: string }[];

  constructor(status: number, code: string, detail: string, faults: { at: string; why: string }[] = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.faults = faults;
  }
}

const BASE = "/api/v1";

/** Told when the server no longer knows who asks, so that the page asks to sign in. */
let tellSignedOut = () => {};
export function whenSignedOut(tell: () => void): void {
  tellSignedOut = tell;
}

/** Whom this page draws; a request of theirs is nobody else's, whoever has signed in since. */
let acting: string | null = null;
export const actAs = (principal: string | null) => void (acting = principal);
export const actingAs = () => acting;
/** Says in whose name a request is made: the server refuses it when the session is another's. */
export const named = (): { [header: string]: string } => (acting === null ? {} : { "condor-principal": encodeURIComponent(acting) });

/** Milliseconds that an answer is waited for. */
const PATIENCE_MS = 15_000;

async function ask(method: string, path: string, body?: Json): Promise<Response> {
  const response = await reach(BASE + path, {
    method,
    headers: { ...(path === "/session" ? {} : named()), ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) {
    if (response.status === 401 && path !== "/session") tellSignedOut();
    throw await problemOf(response);
  }
  return response;
}

/** Fetch, with an end to the waiting: whatever was to change something may have arrived all the same. */
export async function reach(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const askedAt = Date.now();
  const isRead = (init.method ?? "GET") === "GET";
  const given = new AbortController();
  const leave = () => given.abort();
  init.signal?.addEventListener("abort", leave);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    given.abort();
  }, PATIENCE_MS);
  try {
    const response = await fetch(input, { ...init, signal: given.signal });
    heardTime(response.headers.get("date"), askedAt);
    return response;
  } catch (fault) {
    if (init.signal?.aborted === true) throw fault;
    const said = words.problems;
    throw new Problem(0, "unreachable", `${timedOut ? said.noAnswer(PATIENCE_MS / 1_000) : said.unreachable}${isRead ? "" : ` ${said.notKnown}`}`);
  } finally {
    clearTimeout(timer);
  }
}

async function problemOf(response: Response): Promise<Problem> {
  return readProblem(response.status, await response.text());
}

/** A problem from its body; a body that is none still tells the status. */
export function readProblem(status: number, text: string): Problem {
  try {
    const body = JSON.parse(text) as { status?: number; code?: string; detail?: string; errors?: { at: string; why: string }[] };
    if (typeof body.code === "string") {
      return new Problem(body.status ?? status, body.code, body.detail ?? body.code, body.errors);
    }
  } catch {
    // Said below.
  }
  return new Problem(status, "unreadable", words.problems.unreadable(status));
}

export async function get<T>(path: string): Promise<T> {
  return (await (await ask("GET", path)).json()) as T;
}

export interface Page<T> {
  items: T[];
  next: string | null;
}

/** A page of a list, and the path of the next one. */
export async function getPage<T>(path: string): Promise<Page<T>> {
  const response = await ask("GET", path);
  const link = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  const next = link === undefined ? null : link.replace(/^\/api\/v1/, "");
  return { items: (await response.json()) as T[], next };
}

/** A list to its end, or to a bound that no screen shows more of. */
export async function getAll<T>(path: string, most: number): Promise<T[]> {
  const found: T[] = [];
  let next: string | null = path;
  while (next !== null && found.length < most) {
    const page: Page<T> = await getPage<T>(next);
    found.push(...page.items);
    next = page.next;
  }
  return found;
}

export async function post<T = unknown>(path: string, body: Json): Promise<T> {
  const response = await ask("POST", path, body);
  return (response.status === 204 ? null : await response.json()) as T;
}

export async function put<T = unknown>(path: string, body: Json): Promise<T> {
  return (await (await ask("PUT", path, body)).json()) as T;
}

export async function remove(path: string): Promise<void> {
  await ask("DELETE", path);
}

/** Follow a run's event log until the run rests or the signal ends it. */
export async function followEvents(runId: string, after: number, tell: (events: RunEvent[]) => void, signal: AbortSignal): Promise<void> {
  const response = await fetch(`${BASE}/runs/${encodeURIComponent(runId)}/events?after=${after}`, { signal, headers: named() });
  if (!response.ok || response.body === null) throw await problemOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    const events = lines.filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice("data: ".length)) as RunEvent);
    const told = events.filter((event) => event.type !== "run.snapshot");
    if (told.length > 0) tell(told);
    if (told.length < events.length) {
      await reader.cancel();
      return;
    }
  }
}
