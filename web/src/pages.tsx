// Every address of the console; src/condor/server/console.py has the same list.

import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { AskPage, ChatPage } from "./ask";
import { Broken, NotFound, Shell } from "./shell";
import { InboxPage } from "./inbox";
import { lazyPage } from "./lazy";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });
const at = <Path extends string>(path: Path) => ({ getParentRoute: () => root, path }) as const;

const routes = [
  createRoute({ ...at("/"), component: AskPage }),
  createRoute({ ...at("/ask/$chatId"), component: ChatPage }),
  createRoute({ ...at("/inbox"), component: InboxPage }),
  createRoute({ ...at("/inbox/$suspendId"), component: InboxPage }),
  createRoute({ ...at("/runs"), component: lazyPage(() => import("./runs"), "RunsPage") }),
  createRoute({ ...at("/runs/$runId"), component: lazyPage(() => import("./run"), "RunPage") }),
  createRoute({ ...at("/audit"), component: lazyPage(() => import("./audit"), "AuditPage") }),
  createRoute({ ...at("/policy"), component: lazyPage(() => import("./policy"), "PolicyPage") }),
  createRoute({ ...at("/builder"), component: lazyPage(() => import("./builder"), "BuilderPage") }),
] as const;

export const router = createRouter({ routeTree: root.addChildren(routes), defaultErrorComponent: Broken, scrollRestoration: true });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
