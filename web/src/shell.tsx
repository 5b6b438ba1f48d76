// What stands around every page: where one can go, who is signed in, whether what is seen is live.

import { Button, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { useStanding } from "./live";
import { Chip, Fault, Seen } from "./parts";
import { inboxQuery, meQuery, queryClient, useMe } from "./queries";
import { signOut } from "./sign-in";
import { words } from "./words";

export function Shell() {
  const me = useMe();
  const { data: cards } = useQuery(inboxQuery);
  const waiting = (cards ?? []).filter((card) => card.mayAnswer === true).length;
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
        </nav>
        <div className="shell-end">
          <Standing />
          <Theme />
          <details className="person">
            <summary>
              <Seen text={me.display} />
            </summary>
            <div className="person-menu">
              <p>
                <code>{me.principal}</code> · {words.session.roles(me.roles)}
              </p>
              <p className="dim">{words.session.someoneElse}</p>
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

async function leave() {
  try {
    await signOut();
  } finally {
    await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
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
