// A page that loads when it is entered. Where it cannot be loaded, the console stays, says so and tries again:
// what was typed is not lost to a page of the browser's.

import { Button } from "@mantine/core";
import { useEffect, useState, type ComponentType, type ReactNode } from "react";
import { onReturn } from "./live";
import { Waiting } from "./parts";
import { words } from "./words";

export function lazyPage<Name extends string>(load: () => Promise<{ [name in Name]: ComponentType }>, name: Name): () => ReactNode {
  let loaded: ComponentType | null = null;
  return function LazyPage() {
    const [Page, setPage] = useState<ComponentType | null>(() => loaded);
    const [tries, setTries] = useState(0);
    const [missing, setMissing] = useState(false);
    useEffect(() => {
      if (loaded !== null) return undefined;
      let left = false;
      load().then(
        (found) => {
          loaded = found[name];
          if (!left) setPage(() => found[name]);
        },
        () => {
          if (!left) setMissing(true);
        },
      );
      const again = onReturn(() => setTries((before) => before + 1));
      return () => {
        left = true;
        again();
      };
    }, [tries]);
    if (Page !== null) return <Page />;
    if (!missing) return <Waiting />;
    return (
      <div className="notice bad" role="alert">
        <p>{words.problems.pageMissing}</p>
        <Button variant="default" size="xs" onClick={() => setTries(tries + 1)}>
          {words.problems.retry}
        </Button>
      </div>
    );
  };
}
