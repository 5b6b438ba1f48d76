import "./jitless";
import "@mantine/core/styles.layer.css";
import "./console.css";
import { createTheme, localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { actingAs, Problem, whenSignedOut } from "./api";
import { forgetChats } from "./chats";
import { forgetDrafts } from "./drafts";
import { onChange, onReturn, startLive, stopLive } from "./live";
import { router } from "./pages";
import { Fault, Waiting } from "./parts";
import { askWhoIsIn, inboxQuery, meQuery, onSomebodyElse, queryClient, reread, sessionClient } from "./queries";
import { signIn, SignInPage, takeLink, whenElsewhere } from "./sign-in";

// What one person saw is not the next one's: their chats, what they follow, and whatever else is kept of them.
onSomebodyElse(() => {
  stopLive();
  forgetChats();
  forgetDrafts();
});

/** Milliseconds that changes are gathered before lists are read again; more where the inbox is long. */
const GATHER_MS = 250;
const GATHER_LONG_MS = 2_000;
/** Cards from which on an inbox is long. */
const LONG = 200;

const theme = createTheme({ primaryColor: "blue", defaultRadius: "md", fontFamily: "inherit", fontFamilyMonospace: "inherit" });
const colours = localStorageColorSchemeManager({ key: "condor-colours" });

/** The link that this page was opened with, or was given later, signs in before anything is asked. */
function Console() {
  const [arrival, setArrival] = useState<"arriving" | "in" | "failed">("arriving");
  useEffect(() => {
    const arrive = async () => {
      const link = takeLink();
      if (link === null) return setArrival((before) => (before === "arriving" ? "in" : before));
      try {
        await signIn(link.principal, link.code);
        setArrival("in");
      } catch {
        setArrival("failed");
      }
      await askWhoIsIn();
    };
    void arrive();
    const again = () => void arrive();
    const askAgain = () => void askWhoIsIn();
    whenSignedOut(askAgain);
    const ends = [whenElsewhere(askAgain), () => window.removeEventListener("hashchange", again)];
    window.addEventListener("hashchange", again);
    return () => {
      for (const end of ends) end();
    };
  }, []);
  return arrival === "arriving" ? <Waiting /> : <SignedIn linkFailed={arrival === "failed"} />;
}

function SignedIn({ linkFailed }: { linkFailed: boolean }) {
  const me = useQuery(meQuery, sessionClient);
  const principal = me.data?.principal;
  const isOut = me.error instanceof Problem && me.error.status === 401;
  useFollowing(isOut ? undefined : principal);
  if (isOut) return <SignInPage signedIn={() => void me.refetch()} linkFailed={linkFailed} />;
  if (me.data !== undefined && me.data.principal === actingAs()) {
    return (
      <QueryClientProvider key={me.data.principal} client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    );
  }
  return me.isError ? <Fault fault={me.error} retry={() => void me.refetch()} /> : <Waiting />;
}

/** Read again what changes, wherever it was changed. */
function useFollowing(principal: string | undefined) {
  useEffect(() => {
    if (principal === undefined) return undefined;
    const changed = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ends = [
      onChange((change) => {
        changed.add(change.runId);
        timer ??= setTimeout(() => {
          timer = undefined;
          for (const runId of changed) void reread(runId);
          changed.clear();
        }, (queryClient.getQueryData(inboxQuery.queryKey)?.length ?? 0) < LONG ? GATHER_MS : GATHER_LONG_MS);
      }),
      onReturn(() => {
        void queryClient.invalidateQueries();
        // Another may have signed in while nothing was heard.
        void askWhoIsIn();
      }),
      stopLive,
    ];
    startLive();
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [principal]);
}

const place = document.getElementById("console");
if (place === null) throw new Error("index.html has the place");
createRoot(place).render(
  <StrictMode>
    {/* Every style stands in the style sheet: the content security policy allows no style that is made here. */}
    <MantineProvider theme={theme} colorSchemeManager={colours} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <Console />
    </MantineProvider>
  </StrictMode>,
);
