// The builder: what administrators lay on tools, who may approve what, and the message processors' setting.
// It decides nothing: a kernel only tightens, and whether it does is the server's to say.

import { Approvers } from "./approvers";
import { Kernels } from "./kernels";
import { Processors } from "./processors";
import { laysKernels, looksAtBuilder, useMe } from "./queries";
import { words } from "./words";

const said = words.builder;

export function BuilderPage() {
  const me = useMe();
  const lays = laysKernels(me);
  if (!looksAtBuilder(me)) {
    return (
      <>
        <h1>{said.title}</h1>
        <p className="notice">{said.onlyAdmin(words.session.roles(me.roles))}</p>
      </>
    );
  }
  return (
    <>
      <h1>{said.title}</h1>
      <p className="dim">{said.about}</p>
      {!lays && <p className="notice">{said.onlyLooks}</p>}
      <Kernels lays={lays} />
      <Approvers />
      <Processors />
    </>
  );
}
