// What the API says, as far as the console draws it. docs/reference/openapi.json has the whole.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export type CardStatus = "pending" | "approved" | "denied" | "answered" | "superseded" | "withdrawn" | "expired";
export type RunStatus = "created" | "planning" | "executing" | "suspended" | "succeeded" | "degraded" | "failed" | "aborted";
export type StepStatus =
  | "pending" | "started" | "suspended" | "unknown" | "succeeded" | "degraded" | "failed" | "skipped";

export const TERMINAL: ReadonlySet<string> = new Set(["succeeded", "degraded", "failed", "aborted"]);

export interface PolicyFacts {
  policyClass: string;
  hitlTier: string | null;
  effectiveTier: string | null;
  promotions: string[];
  ruleId: string;
}

export interface Alert {
  id?: string;
  severity: string;
  summary: string;
  action?: string;
  source?: string;
  evidence?: { text?: string; reference?: string }[];
}

export interface Subject {
  reference?: string;
  name?: string;
  birthDate?: string;
  age?: number;
  sex?: string;
  mrn?: string;
  text?: string;
  // the day, or that it is so
  deceased?: string | boolean;
  active?: boolean;
}

export interface Evidence {
  subject?: Subject;
  summary?: string;
  alerts?: Alert[];
  before?: Json;
  after?: Json;
  context?: { label: string; text: string }[];
}

export interface FieldShape {
  title?: string;
  description?: string;
  type?: string;
  format?: string;
  oneOf?: { const: Json; title?: string }[];
  items?: FieldShape;
  minimum?: number;
  maximum?: number;
  formatMinimum?: string;
  formatMaximum?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  nullable?: boolean;
}

export interface FormSchema {
  type: "object";
  properties: { [name: string]: FieldShape };
  required?: string[];
}

export type UiSchema = { [name: string]: { "ui:widget"?: string; "ui:lookup"?: { tool: string; target?: string } } };

export interface CallEdit {
  by: string;
  byDisplay: string;
  at: string;
  before: JsonObject;
  after: JsonObject;
}

/** A card as a stream tells it; GET /api/suspensions adds the rest. */
export interface Card {
  kind: string;
  suspendId: string;
  runId: string;
  stepId: string;
  contractHash: string;
  reasonCode: "approval" | "clarification" | "reconcile";
  origin: string;
  generation: number;
  toolName?: string;
  toolInput?: JsonObject;
  headline?: string;
  message?: string;
  op?: string;
  evidence?: Evidence;
  expiresAt?: string;
  policy?: PolicyFacts;
  resumeSchema?: FormSchema;
  uiSchema?: UiSchema;
  editSchema?: FormSchema;
  editUiSchema?: UiSchema;
  /** How the call was changed on the cards before this one. */
  edits?: CallEdit[];
  status: CardStatus;
  decidedBy?: string;
  decidedByDisplay?: string;
  decidedAt?: string;
  resumeData?: JsonObject;
  erased?: boolean;
  // from the inbox alone
  mayAnswer?: boolean;
  openedAt?: string;
  requester?: string;
  requesterDisplay?: string;
  answerers?: Approvers;
  requesterMayAnswer?: boolean;
  requesterExcluded?: boolean;
  reason?: string;
}

export interface RunLine {
  runId: string;
  sessionId: string;
  status: RunStatus;
  autonomy: string;
  requester: { id: string; display: string };
  createdAt: string;
  updatedAt: string;
  request: string | null;
}

export interface Step {
  id: string;
  kind: string | null;
  tool: string | null;
  title: string;
  after: string[];
  status: StepStatus;
  attempt: number;
  code?: string;
  insteadOf?: string;
  fidelity?: string;
  args?: Json;
  result?: Json;
  // what is shown of the result, where that is not all of it
  shown?: Json;
  message?: string;
}

export interface Spent {
  used: number;
  limit: number;
  unit: string;
}

export interface Notice {
  kind: string;
  stepId: string | null;
  text: string;
}

/** A decision of recovery about the plan. */
export interface Decision {
  stepId: string;
  attempt: number;
  kind?: string;
  verb?: string;
  rule: string;
  why: string;
  stop?: string;
  [member: string]: Json | undefined;
}

export interface RunSnapshot extends RunLine {
  seq: number;
  steps: Step[];
  suspensions: Card[];
  budget: { [ceiling: string]: Spent | JsonObject };
  recovery?: Decision[];
  closing: string | null;
  notices: Notice[];
}

export interface RunEvent {
  type: string;
  runId: string;
  seq: number;
  at: string;
  [fact: string]: Json;
}

export interface AuditRow {
  runId: string;
  seq: number;
  at?: string;
  decision?: string;
  actor?: string;
  tool?: string;
  op?: string;
  ruleId?: string;
  stepId?: string;
  origin?: string;
  reasonCode?: string;
  policyClass?: string;
  effectiveTier?: string;
  promotions?: string[];
  suspendId?: string;
  contractHash?: string;
  hash: string;
  prevHash: string;
  [member: string]: Json | undefined;
}

export interface Verdicts {
  kept: boolean;
  runs: number;
  rows: number;
  bad: { runId: string; firstBadSeq: number | null; what: string; message: string }[];
}

/** What is laid on a tool. */
export type KernelLaid = {
  hitlTier: "high" | null;
  approverRoles: string[] | null;
  requesterExcluded: boolean;
};

export interface Kernel {
  tool: string;
  rev: number;
  kernel: KernelLaid;
  isRegistered: boolean;
  /** What is stored of it is gone or was changed: nobody may approve the tool until it is laid anew. */
  isShut: boolean;
  /** The tool as its author declared it. */
  declared: Tool | null;
  /** Roles that a kernel of it may name: it only narrows. */
  mayName: string[];
  revisions: { rev: number; at: string; by: string; reason: string; kernel: KernelLaid; hash: string }[];
}

/** The verdict on a call of one op under one autonomy, as it is and as it would be. */
export interface Effect {
  op: string | null;
  autonomy: string;
  now: Explained;
  then: Explained;
}

/** A message processor as the catalog displays it. */
export interface Processor {
  id: string;
  title: string;
  description: string;
  limits: string;
  stages: string[];
  configurationSchema: { properties: { [name: string]: FieldShape & { default?: Json; enum?: Json[] } }; required?: string[] };
  /** What the server was started with; null: it is off. */
  configuration: JsonObject | null;
}

export interface CheckedSetting {
  setting: string;
  value: string;
  line: string;
  input: string[];
  output: string[];
  isInForce: boolean;
}

export interface Seals {
  seals: number;
  last: { seq: number; hash: string; at?: string; runs?: number } | null;
  unsealedRuns: number;
  isAtLeast: boolean;
}

export interface Rule {
  ruleId: string;
  policyClass: string | null;
  effectiveTier: string | null;
  dispatch: string | null;
  decision: string;
  why: string;
}

export interface ToolArg {
  name: string;
  label: string;
  type: string;
  required: boolean;
  hint?: JsonObject;
}

/** Who approves a tool's calls, as the server resolves it; no roles, and not anybody: nobody. */
export interface Approvers {
  roles: string[];
  anybody: boolean;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  policyClass: string;
  hitlTier: string | null;
  ops: string[];
  /** When a call that its arguments do not raise asks a person. Not told of a tool as it is declared. */
  asks: "never" | "supervised" | "by-op" | "always";
  roles: string[];
  approvers: Approvers;
  /** Nobody approves its calls. */
  isShut: boolean;
  requesterExcluded: boolean;
  aliasGroup: string | null;
  args: ToolArg[];
}

export interface Explained extends PolicyFacts {
  tool: string;
  op: string | null;
  autonomy: string;
  decision: string;
  why: string;
  roles: string[];
  /** Null where nobody is asked. */
  approvers: Approvers | null;
  missing: string[];
}

export interface Me {
  principal: string;
  display: string;
  kind: string;
  roles: string[];
  mode: string;
  example: string | null;
  /** Who plans requests in words. */
  plannedBy: "program" | "model" | "pack" | "nobody";
}

export interface PlanStep {
  id: string;
  title: string;
  status: StepStatus;
  deps: string[];
}

export interface Plan {
  revision: number;
  steps: PlanStep[];
}
