// Signing in: by the link of the server, whose code stands in the fragment, or by hand. No secret is kept
// here; the session is in a cookie that no script reads.

import { Button, NativeSelect, PasswordInput, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { post, Problem, remove } from "./api";
import { Seen } from "./parts";
import { visible } from "./visible";
import { words } from "./words";

const said = words.session;

/** Principal and code of a sign-in link; taken out of the address at once. */
export function takeLink(): { principal: string; code: string } | null {
  const given = new URLSearchParams(location.hash.slice(1));
  const principal = given.get("principal");
  const code = given.get("code");
  if (principal === null || code === null) return null;
  history.replaceState(null, "", location.pathname);
  return { principal, code };
}

/** Tabs of one browser share their session: whoever signs in or out in one tells the others. */
const tabs = new BroadcastChannel("condor-session");

export function whenElsewhere(tell: () => void): () => void {
  tabs.addEventListener("message", tell);
  return () => tabs.removeEventListener("message", tell);
}

export async function signIn(principal: string, code: string): Promise<void> {
  await post("/session", { principal, code });
  tabs.postMessage("changed");
}

export async function signOut(): Promise<void> {
  await remove("/session");
  tabs.postMessage("changed");
}

export interface Somebody {
  id: string;
  display: string;
  roles: string[];
}

/** Name and code; the name is chosen where the people are known. */
export function SignInForm({ people = [], signedIn }: { people?: Somebody[]; signedIn: () => void }) {
  const [principal, setPrincipal] = useState("");
  const [code, setCode] = useState("");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(principal.trim(), code.trim());
      signedIn();
    } catch (problem) {
      setFault(problem instanceof Problem ? problem.message : words.problems.unreachable);
    } finally {
      setBusy(false);
    }
  }

  const name = {
    label: said.principal,
    required: true,
    value: principal,
    onChange: (event: { currentTarget: { value: string } }) => setPrincipal(event.currentTarget.value),
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      {people.length === 0 ? (
        <TextInput {...name} placeholder={said.principalHint} autoComplete="username" />
      ) : (
        <NativeSelect
          {...name}
          data={[{ value: "", label: said.choose }, ...people.map((each) => ({ value: each.id, label: `${visible(each.display)}: ${said.roles(each.roles)}` }))]}
        />
      )}
      <PasswordInput label={said.code} autoComplete="off" required value={code} onChange={(event) => setCode(event.currentTarget.value)} />
      {fault !== "" && (
        <p className="fault" role="alert">
          <Seen text={fault} />
        </p>
      )}
      <Button type="submit" loading={busy}>
        {said.submit}
      </Button>
    </form>
  );
}

export function SignInPage({ signedIn, linkFailed }: { signedIn: () => void; linkFailed: boolean }) {
  return (
    <main className="sign-in" id="content">
      <h1>
        <span className="brand-mark" aria-hidden="true" /> {words.name}
      </h1>
      <h2>{said.title}</h2>
      {linkFailed && (
        <p className="notice bad" role="alert">
          {said.linkUsed}
        </p>
      )}
      <p>{said.byLink}</p>
      <p className="dim">{said.byHand}</p>
      <SignInForm signedIn={signedIn} />
    </main>
  );
}
