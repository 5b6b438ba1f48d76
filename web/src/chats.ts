// One Chat object for each chat of this tab, kept outside React: a page that is left and entered again
// finds its chat as it was. A chat's runs are on the server; each is one assistant message.

import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema, type UIMessage, type UIMessageChunk } from "ai";
import { getPage, named, reach } from "./api";
import { words } from "./words";
import type { Card, Json, Notice, Plan, RunLine, RunStatus } from "./wire";

export interface RunMetadata {
  runId?: string;
  runStatus?: RunStatus;
  seq?: number;
}

export type RunParts = {
  plan: Plan;
  "plan-revised": { revision?: number; verb?: string; stepId?: string; fromTool?: string; toTool?: string };
  "plan-kept": { stepId: string; decision: string; rule: string; why: string };
  "ui-block": { tool: string; stepId: string; block: Json };
  "claim-correction": Notice;
  "breaker-stopped": { [fact: string]: Json };
};

export type RunMessage = UIMessage<RunMetadata, RunParts>;

export const SUSPEND_TOOL = "__suspend__";
/** Runs of a chat that are drawn at first, and more at each asking for earlier ones. */
const RUNS_A_PAGE = 20;

const chats = new Map<string, Chat<RunMessage>>();
/** Where the runs before those that a chat shows are listed; null: it shows the first. */
const earlier = new Map<string, string | null>();

export function newChatId(): string {
  return `chat_${crypto.randomUUID().replaceAll("-", "")}`;
}

/** The chat of this id in this tab; made empty where it is not there. */
export function chatOf(id: string, messages: RunMessage[] = []): Chat<RunMessage> {
  const found = chats.get(id);
  if (found !== undefined) return found;
  const made = new Chat<RunMessage>({
    id,
    messages,
    transport: new DefaultChatTransport({ api: "/api/v1/chat", headers: named, fetch: reach }),
    // Nothing is ever sent again by itself, and no answer to a card travels through the chat.
    sendAutomaticallyWhen: () => false,
  });
  chats.set(id, made);
  return made;
}

export const isOpened = (id: string) => chats.has(id);

/** Another person signed in: what this tab kept is not theirs. */
export function forgetChats(): void {
  for (const chat of chats.values()) void chat.stop();
  chats.clear();
  earlier.clear();
}

/** A chat with its latest runs; whose it is, or null where nobody asked in it yet. */
export async function loadChat(id: string): Promise<{ chat: Chat<RunMessage>; owner: RunLine["requester"] | null }> {
  const page = await getPage<RunLine>(`/runs?sessionId=${encodeURIComponent(id)}&limit=${RUNS_A_PAGE}`);
  const runs = page.items.reverse();
  const owner = runs[0]?.requester ?? null;
  const opened = chats.get(id);
  if (opened !== undefined && opened.messages.length > 0) return { chat: opened, owner };
  earlier.set(id, page.next);
  const messages = await messagesOf(runs.slice(0, -1));
  const last = runs.at(-1);
  if (last !== undefined) messages.push(askedOf(last));
  chats.delete(id);
  const chat = chatOf(id, messages);
  // The latest run is the stream that the chat takes up; a chat that is not in the list may have one too.
  const taken = chat.resumeStream();
  if (runs.length === 0) await taken;
  return { chat, owner };
}

export const hasEarlier = (id: string) => (earlier.get(id) ?? null) !== null;

/** Put the runs before those that a chat shows in front of them. */
export async function loadEarlier(chat: Chat<RunMessage>): Promise<void> {
  const path = earlier.get(chat.id) ?? null;
  if (path === null) return;
  const page = await getPage<RunLine>(path);
  const told = await messagesOf(page.items.reverse());
  // Asked twice, it is put there once.
  if (earlier.get(chat.id) !== path) return;
  earlier.set(chat.id, page.next);
  chat.messages = [...told, ...chat.messages];
}

async function messagesOf(runs: RunLine[]): Promise<RunMessage[]> {
  const told = await Promise.all(runs.map((run) => readRun(run.runId)));
  return runs.flatMap((run, index) => [askedOf(run), told[index] ?? null]).filter((message) => message !== null);
}

const askedOf = (run: RunLine): RunMessage => ({ id: `asked_${run.runId}`, role: "user", parts: [{ type: "text", text: run.request ?? words.runList.plan }] });

/** A run that rests, as its message. */
async function readRun(runId: string): Promise<RunMessage | null> {
  const response = await reach(`/api/v1/runs/${encodeURIComponent(runId)}/stream`, { headers: named() });
  if (!response.ok || response.body === null) return null;
  const stream = parseJsonEventStream({ stream: response.body, schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream({
      transform(found, controller: TransformStreamDefaultController<UIMessageChunk>) {
        if (found.success) controller.enqueue(found.value);
      },
    }),
  );
  let last: RunMessage | null = null;
  for await (const message of readUIMessageStream<RunMessage>({ stream })) last = message;
  return last;
}

/** The last run of a chat, as its message tells. */
export function latestRun(messages: RunMessage[]): RunMetadata {
  const last = messages.at(-1);
  return last?.role === "assistant" ? (last.metadata ?? {}) : {};
}

/** The card that a part carries; null for any other part. */
export function cardOf(part: RunMessage["parts"][number]): Card | null {
  if (part.type !== "dynamic-tool" || part.toolName !== SUSPEND_TOOL || part.state !== "output-available") return null;
  return part.output as Card;
}
