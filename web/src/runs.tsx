// Every run that you may read, newest first.

import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getPage } from "./api";
import { Empty, Fault, Moment, RunChip, Seen, Waiting } from "./parts";
import { words } from "./words";
import type { RunLine } from "./wire";

const said = words.runList;

export function RunsPage() {
  const runs = useInfiniteQuery({
    queryKey: ["runs", "list"],
    queryFn: ({ pageParam }) => getPage<RunLine>(pageParam),
    initialPageParam: "/runs?limit=50",
    getNextPageParam: (page) => page.next,
  });
  const lines = runs.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <h1>{said.title}</h1>
      {runs.isPending && <Waiting />}
      {runs.isError && <Fault fault={runs.error} retry={() => void runs.refetch()} />}
      {runs.isSuccess && lines.length === 0 && <Empty>{words.empty.runs}</Empty>}
      <ul className="plain rows">
        {lines.map((run) => (
          <li key={run.runId}>
            <Link to="/runs/$runId" params={{ runId: run.runId }} className="row-link">
              <span className="grow">
                <Seen text={run.request ?? said.plan} />
              </span>
              <RunChip status={run.status} />
              <span className="dim">
                <Seen text={run.requester.display} />
              </span>
              <span className="dim">
                <Moment at={run.createdAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {runs.hasNextPage && (
        <Button variant="default" loading={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </>
  );
}
