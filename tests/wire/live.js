// A running server with the ward's tools and orders (ward.py, orders.py): where it is, and who asks.
//
// CONDOR_URL switches the live tests on: the server's address, as server.json has it.
// CONDOR_CODE is the sign-in code (or the token of server.json), CONDOR_PRINCIPAL who signs in.

export const base = process.env.CONDOR_URL?.replace(/\/$/, "");
export const reason = base ? false : "no server: CONDOR_URL is not set";
export const api = (path) => `${base}/api/v1${path}`;

let cookie;

/** Sign in once; every request then says who asks and where it comes from. */
async function signIn() {
  const { CONDOR_CODE: code = "", CONDOR_PRINCIPAL: principal = "dr-okafor" } = process.env;
  const signedIn = await fetch(api("/session"), {
    method: "POST",
    headers: { "content-type": "application/json", origin: base },
    body: JSON.stringify({ principal, code }),
  });
  if (!signedIn.ok) throw new Error(`sign-in: ${signedIn.status} ${await signedIn.text()}`);
  return signedIn.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
}

/** `fetch` of a signed-in browser. */
export async function signedFetch(url, init = {}) {
  cookie ??= signIn();
  const headers = new Headers(init.headers);
  headers.set("cookie", await cookie);
  headers.set("origin", base);
  return fetch(url, { ...init, headers });
}

/** Post JSON; the status and what came back. */
export async function post(path, body) {
  const response = await signedFetch(api(path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null };
}

/** Every chunk of a stream, and the headers it came with. */
export async function chunksOf(path) {
  const response = await signedFetch(api(path));
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  const last = lines.pop();
  if (last !== "data: [DONE]") throw new Error(`the stream ends on ${last}`);
  return { headers: response.headers, chunks: lines.map((line) => JSON.parse(line.slice("data: ".length))) };
}
