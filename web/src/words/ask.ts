// The words of the chat: the page, the plan and the results in it.

export const ask = {
  title: "What should be done?",
  about: "Reading the record needs nobody. What changes it waits for a person, unless the policy says otherwise.",
  placeholder: "Ask in your own words",
  send: "Send",
  stop: "Stop the run",
  stopping: "Stopping",
  example: "Try this",
  plannedBy: {
    model: "A model plans what you ask. It approves nothing, and what it plans passes the same gate.",
    pack: "No model is configured: requests are planned by rules, for the kinds that they know, and reports are made from the run's own evidence.",
    program: "",
    nobody: "No model is configured and nothing here plans requests in words: hand in a plan (condor run --plan).",
  },
  recent: "Your latest",
  new: "Ask something new",
  you: "You",
  condor: "Condor",
  working: "Working",
  parked: "Parked: it waits for an answer to the card. You can close this page; nothing is lost.",
  reconnecting: "The connection broke. Reconnecting; the run itself goes on.",
  busy: "A run is under way. You can ask again when it rests.",
  notYours: (display: string) => `${display} asks here. You may read, and answer its cards where your role allows.`,
  failed: "It was not sent.",
  unanswered: "No answer came.",
  kept: "What you wrote stands in the field. Sent again unchanged, it is asked once, whether it arrived or not.",
  openRun: "Look at this run",
  nothing: "Nothing was asked here, or it is not yours to see.",
  earlier: "Show what was asked before",
};

export const plan = {
  title: "Plan",
  ownWords: "in the plan's words, not checked",
  steps: (done: number, all: number) => `${done} of ${all} done`,
  revised: "The plan was changed",
  kept: "The plan stays as it is",
  revision: (revision: number) => `revision ${revision}`,
  verbs: {
    "retry-with-different-tool": "another tool takes the step's place",
    "skip-remaining": "the steps that hang on it are skipped",
    halt: "the run is ended",
  } as { [verb: string]: string },
  swap: (from: string, to: string) => `${from} → ${to}`,
  breaker: "A limit stopped the run",
};

export const tool = {
  arguments: "Arguments",
  result: "Result",
  failed: "Not done",
  running: "Running",
  erased: "Erased",
};

export const closing = {
  corrections: "What the record of this run says",
  correctionsAbout: "Written by Condor from the run's own evidence, not by a model.",
};
