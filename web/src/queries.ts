// What is kept of the server's answers, and when it is read again.

import { QueryClient, queryOptions, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { actAs, actingAs, get, getAll, Problem } from "./api";
import type { Card, Kernel, Me, Rule, RunSnapshot, Tool } from "./wire";

/** Cards that an inbox draws at most. */
export const CARDS_MAX = 2_000;

/** Milliseconds for which tools are taken as they were read: an admin may lay a kernel on one. */
const TOOLS_STALE_MS = 30_000;

const newClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        retry: (failures, fault) => failures < 3 && fault instanceof Problem && (fault.status === 0 || fault.status >= 500),
        retryDelay: (failures) => Math.min(500 * 2 ** failures, 5_000),
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });

/** Who is signed in: outside of what is kept of any person's. */
export const sessionClient = newClient();
/** What is kept of the answers to whoever is signed in now; another person begins with nothing. */
export let queryClient = newClient();

const changes = new Set<() => void>();
/** Told when somebody else is signed in, or nobody, before anything of theirs is drawn. */
export function onSomebodyElse(tell: () => void): () => void {
  changes.add(tell);
  return () => changes.delete(tell);
}

function become(principal: string | null): void {
  if (principal === actingAs()) return;
  const wasNobody = actingAs() === null;
  actAs(principal);
  if (wasNobody) return;
  queryClient = newClient();
  for (const tell of changes) tell();
}

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async () => {
    try {
      const me = await get<Me>("/session");
      become(me.principal);
      return me;
    } catch (fault) {
      if (fault instanceof Problem && fault.status === 401) become(null);
      throw fault;
    }
  },
  staleTime: 0,
  refetchOnWindowFocus: true,
});
/** Ask who is signed in now. */
export const askWhoIsIn = () => sessionClient.invalidateQueries({ queryKey: meQuery.queryKey });
export const rulesQuery = queryOptions({ queryKey: ["rules"], queryFn: () => get<Rule[]>("/policy/rules"), staleTime: Infinity });
export const toolsQuery = queryOptions({ queryKey: ["tools"], queryFn: () => get<Tool[]>("/tools"), staleTime: TOOLS_STALE_MS });
export const kernelsQuery = queryOptions({ queryKey: ["kernels"], queryFn: () => get<Kernel[]>("/admin/tool-kernels") });
export const kernelQuery = (tool: string) =>
  queryOptions({ queryKey: ["kernel", tool], queryFn: () => get<Kernel>(`/admin/tool-kernels/${encodeURIComponent(tool)}`) });
/** Every card that waits, or those that the server picks. */
export const pickedQuery = (picked: { [name: string]: string }) => {
  const query = new URLSearchParams({ status: "pending", limit: "200", ...picked }).toString();
  return queryOptions({ queryKey: ["cards", query], queryFn: () => getAll<Card>(`/suspensions?${query}`, CARDS_MAX) });
};
export const inboxQuery = pickedQuery({});
export const cardQuery = (suspendId: string) =>
  queryOptions({ queryKey: ["card", suspendId], queryFn: () => get<Card>(`/suspensions/${encodeURIComponent(suspendId)}`) });
export const runQuery = (runId: string) =>
  queryOptions({ queryKey: ["run", runId], queryFn: () => get<RunSnapshot>(`/runs/${encodeURIComponent(runId)}`) });

export function useMe(): Me {
  const { data } = useQuery(meQuery, sessionClient);
  if (data === undefined) throw new Error("drawn only for who is signed in");
  return data;
}

/** Whoever works on this machine without a name of their own. */
const LOCAL = "local";
/** Who may lay kernels on tools, and who may look at them; the server asks again. */
export const laysKernels = (me: Me) => me.principal === LOCAL || me.roles.includes("admin");
export const looksAtBuilder = (me: Me) => laysKernels(me) || me.roles.includes("auditor");

/** What tools are called, by their names. */
export function useToolTitles(): (name: string | null | undefined) => string {
  const tools: UseQueryResult<Tool[]> = useQuery(toolsQuery);
  return (name) => tools.data?.find((tool) => tool.name === name)?.title ?? name ?? "";
}

/** Why a rule asks, in the server's words. */
export function useRuleReason(ruleId: string | undefined): string {
  const rules: UseQueryResult<Rule[]> = useQuery(rulesQuery);
  return rules.data?.find((rule) => rule.ruleId === ruleId)?.why ?? "";
}

/** Read again what a change of this run touches. */
export async function reread(runId: string): Promise<void> {
  const keys = [["cards"], ["card"], ["runs"], ["run", runId], ["audit", runId]];
  await Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
