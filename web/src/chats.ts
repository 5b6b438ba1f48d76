// One Chat object for each chat of this tab, kept outside React: a page that is left and entered again
// finds its chat as it was. A chat's runs are on the server; each is one assistant message.

import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema, type UIMessage, type UIMessageChunk } from "ai";
import { getAll } from "./api";
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
/** Runs that are looked through for those of one chat. */
const RUNS_MAX = 400;

const chats = new Map<string, Chat<RunMessage>>();

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
    transport: new DefaultChatTransport({ api: "/api/v1/chat" }),
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
}

/** A chat with all its runs; whose it is, or null where nobody asked in it yet. */
export async function loadChat(id: string): Promise<{ chat: Chat<RunMessage>; owner: RunLine["requester"] | null }> {
  const runs = (await getAll<RunLine>("/runs?limit=200", RUNS_MAX)).filter((run) => run.sessionId === id).reverse();
  const owner = runs[0]?.requester ?? null;
  const opened = chats.get(id);
  if (opened !== undefined && opened.messages.length > 0) return { chat: opened, owner };
  const messages: RunMessage[] = [];
  for (const [index, run] of runs.entries()) {
    messages.push({ id: `asked_${run.runId}`, role: "user", parts: [{ type: "text", text: run.request ?? "" }] });
    if (index === runs.length - 1) break;
    const told = await readRun(run.runId);
    if (told !== null) messages.push(told);
  }
  chats.delete(id);
  const chat = chatOf(id, messages);
  // The latest run is the stream that the chat takes up; a chat that is not in the list may have one too.
  const taken = chat.resumeStream();
  if (runs.length === 0) await taken;
  return { chat, owner };
}

/** A run that rests, as its message. */
async function readRun(runId: string): Promise<RunMessage | null> {
  const response = await fetch(`/api/v1/runs/${encodeURIComponent(runId)}/stream`);
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
