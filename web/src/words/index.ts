// Every word that the console says of its own. What a policy, a tool or a record says comes with it.

import { TERMINAL } from "../wire";
import { ask, plan, tool, closing } from "./ask";
import { audit } from "./audit";
import { builder } from "./builder";
import { card, form } from "./card";
import { inbox } from "./inbox";
import { policy } from "./policy";
import { runList, run } from "./run";

export const words = {
  name: "Condor",
  skip: "Skip to the content",
  nav: { label: "Pages", ask: "Ask", inbox: "Inbox", runs: "Runs", audit: "Audit", policy: "Policy", builder: "Builder" },
  waiting: (count: number) => `${count} waiting for you`,
  theme: { toDark: "Use dark colours", toLight: "Use light colours" },
  live: {
    live: "Live",
    connecting: "Connecting",
    reconnecting: "Reconnecting: what you see may be old",
    paused: "Paused",
  },
  session: {
    title: "Sign in",
    byLink: "Open one of the links that the server printed: each signs one person in, once.",
    byHand: "Or give a name, and the code of its link or the token in server.json of the home.",
    principal: "Name",
    principalHint: "as dr-okafor",
    code: "Code or token",
    submit: "Sign in",
    signOut: "Sign out",
    as: (display: string) => `Signed in as ${display}`,
    linkUsed: "This link did not sign you in: each counts once, and for an hour. Take a new one from the server, or sign in by hand.",
    someoneElse: "Act as somebody else: with their link, or here.",
    choose: "Choose a person",
    roles: (roles: string[]) => (roles.length === 0 ? "no role" : roles.join(", ")),
  },
  problems: {
    unreachable: "The server does not answer.",
    noAnswer: (seconds: number) => `The server has not answered for ${seconds} seconds.`,
    notKnown: "It is not known whether this arrived. Nothing is sent again by itself.",
    unreadable: (status: number) => `The server answered ${status} with something that is no answer of Condor's.`,
    retry: "Try again",
    notFound: "There is nothing here, or it is not yours to see.",
    broke: "This page broke. Nothing was sent.",
    reload: "Load it again",
    pageMissing: "This page could not be loaded: the server does not answer. What you wrote elsewhere is kept.",
  },
  empty: {
    inbox: "Nothing waits for an answer.",
    filtered: "No card fits these filters.",
    runs: "There are no runs yet. Ask for something.",
    audit: "No rows fit this search.",
    steps: "This run has no steps.",
  },
  loading: "Loading",
  more: "More",
  ask,
  plan,
  steps: {
    pending: "waits",
    started: "running",
    suspended: "needs a person",
    unknown: "not known",
    succeeded: "done",
    degraded: "done in part",
    failed: "failed",
    skipped: "skipped",
  } as { [status: string]: string },
  runs: {
    created: "created",
    planning: "planning",
    executing: "running",
    suspended: "waits for a person",
    succeeded: "done",
    degraded: "done in part",
    failed: "failed",
    aborted: "ended early",
  } as { [status: string]: string },
  tool,
  closing,
  card,
  form,
  inbox,
  runList,
  run,
  audit,
  policy,
  builder,
  autonomies: { guarded: "guarded", ambient: "ambient", autonomous: "autonomous" },
  nothingHidden: (name: string) => `hidden character ${name}`,
};

export function runWord(status: string): string {
  return words.runs[status] ?? status;
}

export function isActive(status: string | undefined): boolean {
  return status !== undefined && !TERMINAL.has(status) && status !== "suspended";
}
