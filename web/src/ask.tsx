// Ask and answer: a chat whose every message of Condor's is a run. The page ends on the truth: it takes the
// stream up after an answer, a change told from elsewhere, a reload or a broken connection.

import { useChat, type Chat } from "@ai-sdk/react";
import { Button, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { get, post, Problem, readProblem } from "./api";
import { chatOf, hasEarlier, isOpened, latestRun, loadChat, loadEarlier, newChatId, type RunMessage } from "./chats";
import { draftOf, keepDraft, useDraft } from "./drafts";
import { onChange, onLost, onReturn } from "./live";
import { RunAnswer } from "./message";
import { Empty, Moment, RunChip, Seen, Waiting, Fault } from "./parts";
import { reread, useMe } from "./queries";
import { TERMINAL, type RunLine } from "./wire";
import { isActive, words } from "./words";

const said = words.ask;
const composerOf = (place: string) => `ask ${place}`;
/** Milliseconds before the first try to reconnect, and the most between two. */
const AGAIN_MS = 500;
const AGAIN_MS_MAX = 10_000;

// -- the front page -----------------------------------------------------------------------------

export function AskPage() {
  const me = useMe();
  const navigate = useNavigate();
  const runs = useQuery({ queryKey: ["runs", "latest"], queryFn: () => get<RunLine[]>("/runs?limit=20") });
  const mine = (runs.data ?? []).filter((run) => run.requester.id === me.principal).slice(0, 5);

  function send(text: string) {
    const id = newChatId();
    void askIn(chatOf(id), text);
    void navigate({ to: "/ask/$chatId", params: { chatId: id } });
  }

  return (
    <div className="front">
      <h1>{said.title}</h1>
      <p className="dim">{said.about}</p>
      <Composer place="" send={send} />
      {said.plannedBy[me.plannedBy] !== "" && <p className="dim">{said.plannedBy[me.plannedBy]}</p>}
      {me.example !== null && (
        <p className="example">
          <span className="dim">{said.example}</span>
          <Button variant="default" className="wraps" onClick={() => send(me.example ?? "")}>
            {me.example}
          </Button>
        </p>
      )}
      {mine.length > 0 && (
        <section aria-labelledby="recent">
          <h2 id="recent">{said.recent}</h2>
          <ul className="plain rows">
            {mine.map((run) => (
              <li key={run.runId}>
                <Link to="/ask/$chatId" params={{ chatId: run.sessionId }} className="row-link">
                  <span className="grow">
                    <Seen text={run.request ?? words.runList.plan} />
                  </span>
                  <RunChip status={run.status} />
                  <span className="dim">
                    <Moment at={run.createdAt} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** @param place the chat that it writes in; empty: none yet. */
function Composer({ place, send, blocked = "" }: { place: string; send: (text: string) => void; blocked?: string }) {
  const [text, setText] = useDraft(composerOf(place));
  function submit(event?: FormEvent) {
    event?.preventDefault();
    if (text.trim() === "" || blocked !== "") return;
    setText("");
    send(text.trim());
  }
  function keyed(event: KeyboardEvent) {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  }
  return (
    <form className="composer" onSubmit={submit}>
      <Textarea
        aria-label={said.title}
        placeholder={blocked === "" ? said.placeholder : blocked}
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        disabled={blocked !== ""}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={keyed}
      />
      <Button type="submit" disabled={blocked !== "" || text.trim() === ""}>
        {said.send}
      </Button>
    </form>
  );
}

/** Messages that got no answer, by chat: the same message sent again is the same run. */
const unanswered = new WeakMap<Chat<RunMessage>, { id: string; text: string }>();

/** Ask; what was not taken goes back to the field, and stands nowhere as if it had been asked. */
async function askIn(chat: Chat<RunMessage>, text: string) {
  const before = unanswered.get(chat);
  const id = before?.text === text ? before.id : crypto.randomUUID();
  unanswered.delete(chat);
  await chat.sendMessage({ id, role: "user", parts: [{ type: "text", text }] });
  if (chat.status !== "error" || chat.messages.at(-1)?.id !== id) return;
  if (chat.error instanceof Problem && chat.error.status === 0) unanswered.set(chat, { id, text });
  chat.messages = chat.messages.slice(0, -1);
  if (draftOf(composerOf(chat.id)) === "") keepDraft(composerOf(chat.id), text);
}

// -- a chat -------------------------------------------------------------------------------------

export function ChatPage() {
  const { chatId } = useParams({ from: "/ask/$chatId" });
  return <OpenedChat key={chatId} chatId={chatId} />;
}

function OpenedChat({ chatId }: { chatId: string }) {
  const [opened, setOpened] = useState<{ chat: Chat<RunMessage>; owner: RunLine["requester"] | null } | null>(() =>
    isOpened(chatId) ? { chat: chatOf(chatId), owner: null } : null,
  );
  const [fault, setFault] = useState<unknown>(null);
  const load = useCallback(() => {
    setFault(null);
    loadChat(chatId).then(setOpened, setFault);
  }, [chatId]);
  useEffect(load, [load]);
  if (opened !== null) return <Conversation {...opened} />;
  return fault === null ? <Waiting /> : <Fault fault={fault} retry={load} />;
}

function Conversation({ chat, owner }: { chat: Chat<RunMessage>; owner: RunLine["requester"] | null }) {
  const me = useMe();
  const { messages, status, error } = useChat<RunMessage>({ chat, experimental_throttle: 50 });
  const { runId, runStatus } = latestRun(messages);
  const isBusy = status === "submitted" || status === "streaming";
  const isForeign = owner !== null && owner.id !== me.principal;
  const cut = !isBusy && isActive(runStatus);
  const answered = useCallback(() => takeUp(chat), [chat]);
  useTruth(chat, isBusy, cut);
  useFollowing(messages);
  return (
    <div className="chat">
      <h1 className="sr-only">{words.nav.ask}</h1>
      {hasEarlier(chat.id) && <Earlier chat={chat} />}
      <div className="messages" aria-live="polite" aria-busy={isBusy}>
        {messages.map((message) =>
          message.role === "user" ? (
            <div key={message.id} className="asked">
              <p className="speaker">{isForeign ? <Seen text={owner.display} /> : said.you}</p>
              {message.parts.map((part, index) => (part.type === "text" ? <Seen key={index} text={part.text} lines /> : null))}
            </div>
          ) : (
            <RunAnswer key={message.id} message={message} answered={answered} />
          ),
        )}
        {messages.length === 0 && !isBusy && error === undefined && <Empty>{said.nothing}</Empty>}
      </div>
      <div className={`chat-foot ${runStatus === "suspended" ? "resting" : ""}`}>
        {error !== undefined && !cut && <SendFault fault={error} />}
        {cut && <p className="notice warn" role="status">{said.reconnecting}</p>}
        {isBusy && <p className="working" role="status">{said.working}</p>}
        {!isBusy && runStatus === "suspended" && <p className="notice warn" role="status">{said.parked}</p>}
        {isForeign && (
          <p className="notice">
            <Seen text={said.notYours(owner.display)} />
          </p>
        )}
        {!isForeign && (isBusy || runStatus !== "suspended") && <Composer place={chat.id} send={(text) => void askIn(chat, text)} blocked={isBusy || cut ? said.busy : ""} />}
        <p className="chat-links">
          <Link to="/">{said.new}</Link>
          {runId !== undefined && runStatus !== undefined && !TERMINAL.has(runStatus) && <StopButton runId={runId} />}
        </p>
      </div>
    </div>
  );
}

function Earlier({ chat }: { chat: Chat<RunMessage> }) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  async function load() {
    setBusy(true);
    setFault(null);
    try {
      await loadEarlier(chat);
    } catch (problem) {
      setFault(problem);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <Button variant="subtle" size="compact-sm" className="earlier" loading={busy} onClick={() => void load()}>
        {said.earlier}
      </Button>
      {fault !== null && <Fault fault={fault} />}
    </>
  );
}

function SendFault({ fault }: { fault: Error }) {
  const problem = fault instanceof Problem ? fault : readProblem(0, fault.message);
  if (problem.status === 0) {
    return (
      <div className="notice bad" role="alert">
        <strong>{said.unanswered}</strong> {said.kept}
      </div>
    );
  }
  return (
    <div className="notice bad" role="alert">
      <strong>{said.failed}</strong> <Seen text={problem.message} />
    </div>
  );
}

function StopButton({ runId }: { runId: string }) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  async function stop() {
    setBusy(true);
    try {
      await post(`/runs/${encodeURIComponent(runId)}/stop`, {});
      setFault(null);
    } catch (problem) {
      setFault(problem);
    } finally {
      await reread(runId);
      setBusy(false);
    }
  }
  return (
    <>
      <Button variant="subtle" color="red" size="compact-sm" loading={busy} onClick={() => void stop()}>
        {said.stop}
      </Button>
      {fault !== null && <Fault fault={fault} />}
    </>
  );
}

/** Take the run's stream up; one that is being read already tells all until the run rests. */
function takeUp(chat: Chat<RunMessage>) {
  if (chat.status === "ready" || chat.status === "error") void chat.resumeStream();
}

/** The chat follows its run wherever it is changed, and reconnects when the line breaks. */
function useTruth(chat: Chat<RunMessage>, isBusy: boolean, cut: boolean) {
  const newest = useRef(0);
  const tries = useRef(0);
  const catchUp = useCallback(() => {
    const { seq } = latestRun(chat.messages);
    if (newest.current > (seq ?? 0)) takeUp(chat);
  }, [chat]);

  useEffect(() => {
    const ends = [
      onChange((change) => {
        if (change.runId !== latestRun(chat.messages).runId || change.seq === undefined) return;
        newest.current = Math.max(newest.current, change.seq);
        catchUp();
      }),
      // A run's stream that says nothing may be dead as well; it is taken up anew.
      onLost(() => {
        if (latestRun(chat.messages).runId !== undefined) void chat.stop();
      }),
      // What was told while nobody listened is not told again.
      onReturn(() => {
        if (chat.messages.length > 0) takeUp(chat);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [chat, catchUp]);

  useEffect(() => {
    if (isBusy) return undefined;
    if (!cut) {
      tries.current = 0;
      catchUp();
      return undefined;
    }
    const timer = setTimeout(() => {
      tries.current += 1;
      takeUp(chat);
    }, Math.min(AGAIN_MS * 2 ** tries.current, AGAIN_MS_MAX));
    return () => clearTimeout(timer);
  }, [chat, isBusy, cut, catchUp]);
}

/** Keep the end in view while it grows, but not under a reader who has scrolled away from it. */
function useFollowing(messages: RunMessage[]) {
  const near = useRef(true);
  useEffect(() => {
    const measure = () => {
      near.current = window.innerHeight + window.scrollY > document.body.scrollHeight - 240;
    };
    window.addEventListener("scroll", measure, { passive: true });
    return () => window.removeEventListener("scroll", measure);
  }, []);
  const waits = latestRun(messages).runStatus === "suspended";
  useEffect(() => {
    // A card is read from its top.
    if (near.current && !waits) window.scrollTo({ top: document.body.scrollHeight });
  }, [messages, waits]);
}
