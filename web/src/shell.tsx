// What stands around every page: where one can go, who is signed in, whether what is seen is live.

import { Button, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, type RefObject } from "react";
import { get } from "./api";
import { useStanding } from "./live";
import { Chip, Fault, Seen } from "./parts";
import { askWhoIsIn, inboxQuery, looksAtBuilder, useMe } from "./queries";
import { SignInForm, signOut, type Somebody } from "./sign-in";
import { words } from "./words";

export function Shell() {
  const me = useMe();
  const { data: cards } = useQuery(inboxQuery);
  const waiting = (cards ?? []).filter((card) => card.mayAnswer === true).length;
  usePage(waiting);
  const menu = useRef<HTMLDetailsElement>(null);
  useClosing(menu);
  return (
    <>
      <a className="skip" href="#content">
        {words.skip}
      </a>
      <header className="shell">
        <Link to="/" className="brand">
          <span className="brand-mark" aria-hidden="true" />
          {words.name}
        </Link>
        <nav aria-label={words.nav.label}>
          <Link to="/" activeOptions={{ exact: true }}>
            {words.nav.ask}
          </Link>
          <Link to="/inbox">
            {words.nav.inbox}
            {waiting > 0 && (
              <span className="count">
                <span aria-hidden="true">{waiting}</span>
                <span className="sr-only">{words.waiting(waiting)}</span>
              </span>
            )}
          </Link>
          <Link to="/runs">{words.nav.runs}</Link>
          <Link to="/audit">{words.nav.audit}</Link>
          <Link to="/policy">{words.nav.policy}</Link>
          {looksAtBuilder(me) && <Link to="/builder">{words.nav.builder}</Link>}
        </nav>
        <div className="shell-end">
          <Standing />
          <Theme />
          <details className="person" ref={menu}>
            <summary>
              <Seen text={me.display} />
            </summary>
            <div className="person-menu">
              <p>
                <code>{me.principal}</code> · {words.session.roles(me.roles)}
              </p>
              <SomebodyElse />
              <Button variant="default" size="xs" onClick={() => void leave()}>
                {words.session.signOut}
              </Button>
            </div>
          </details>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

/** Where people sign in with codes: choose whom to act as. */
function SomebodyElse() {
  const people = useQuery({ queryKey: ["people"], queryFn: () => get<{ people: Somebody[] }>("/principals"), staleTime: Infinity });
  if ((people.data?.people ?? []).length === 0) return null;
  return (
    <>
      <p className="dim">{words.session.someoneElse}</p>
      <SignInForm people={people.data?.people} signedIn={() => void askWhoIsIn()} />
    </>
  );
}

/** A menu closes on Escape, and on a press or a step elsewhere. */
function useClosing(menu: RefObject<HTMLDetailsElement | null>) {
  useEffect(() => {
    const close = () => menu.current?.removeAttribute("open");
    const elsewhere = (event: Event) => {
      if (event.target instanceof Node && menu.current?.contains(event.target) !== true) close();
    };
    const keyed = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || menu.current?.open !== true) return;
      close();
      menu.current.querySelector("summary")?.focus();
    };
    document.addEventListener("pointerdown", elsewhere);
    document.addEventListener("focusin", elsewhere);
    document.addEventListener("keydown", keyed);
    return () => {
      document.removeEventListener("pointerdown", elsewhere);
      document.removeEventListener("focusin", elsewhere);
      document.removeEventListener("keydown", keyed);
    };
  }, [menu]);
}

/** A page's title, and where focus stands when another page is entered. */
function usePage(waiting: number) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const page = path.split("/")[1] ?? "";
  const before = useRef(page);
  useEffect(() => {
    const named = (words.nav as { [page: string]: string })[page === "" ? "ask" : page];
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${named ?? words.name} · ${words.name}`;
  }, [page, waiting]);
  useEffect(() => {
    if (before.current !== page) document.getElementById("content")?.focus({ preventScroll: true });
    before.current = page;
  }, [page]);
}

async function leave() {
  try {
    await signOut();
  } finally {
    await askWhoIsIn();
  }
}

function Standing() {
  const standing = useStanding();
  return (
    <span role="status" className="standing">
      <Chip tone={standing === "live" ? "good" : standing === "reconnecting" ? "bad" : "plain"}>{words.live[standing]}</Chip>
    </span>
  );
}

function Theme() {
  // Without it Mantine writes a style element of its own, which the policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const isDark = colorScheme === "dark" || (colorScheme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  return (
    <button
      type="button"
      className="theme"
      aria-label={isDark ? words.theme.toLight : words.theme.toDark}
      onClick={() => setColorScheme(isDark ? "light" : "dark")}
    >
      <span aria-hidden="true">{isDark ? "☀" : "☾"}</span>
    </button>
  );
}

export function NotFound() {
  return <p className="empty">{words.problems.notFound}</p>;
}

export function Broken({ error }: { error: unknown }) {
  return (
    <>
      <p className="notice bad" role="alert">
        {words.problems.broke}
      </p>
      <Fault fault={error} />
      <Button variant="default" onClick={() => location.reload()}>
        {words.problems.reload}
      </Button>
    </>
  );
}
