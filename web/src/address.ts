// Filters that stand in a page's address, so that a reload, a link and the way back keep them.

type Filters = { [name in string]: string | boolean };

/** Filters as the address has them; what it lacks is as in `all`. */
export function fromAddress<Of extends object>(all: Of, names: readonly (keyof Of & string)[]): Of {
  const given = new URLSearchParams(location.search);
  const found = Object.entries(all as Filters).map(([name, value]) => {
    const told = names.includes(name as keyof Of & string) ? given.get(name) : null;
    return [name, told === null ? value : typeof value === "boolean" ? told === "true" : told];
  });
  return Object.fromEntries(found) as Of;
}

/** Write into the address what differs from `all`; no step of its own on the way back. */
export function toAddress<Of extends object>(filters: Of, all: Of, names: readonly (keyof Of & string)[]): void {
  const query = new URLSearchParams();
  for (const name of names) if (filters[name] !== all[name]) query.set(name, String(filters[name]));
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  if (search !== location.search) history.replaceState(history.state, "", location.pathname + search);
}
