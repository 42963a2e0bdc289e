// Questions to the server.

const AT = "/runs/api/";

/** That the server wants a key. */
export class Locked extends Error {}

async function answer(response) {
  let told = {};
  try {
    told = await response.json();
  } catch {
    told = { error: `the server answers ${response.status}` };
  }
  if (response.status === 401) throw new Locked(told.error);
  if (!response.ok) throw new Error(told.error ?? `the server answers ${response.status}`);
  return told;
}

async function sent(what, options) {
  let response;
  try {
    response = await fetch(AT + what, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer; is it still running?");
  }
  return answer(response);
}

/** What a path of the interface gives. */
export function ask(what, signal) {
  return sent(what, { signal });
}

/** Has something done. */
export function order(what, body = {}) {
  return sent(what, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

/** Listens to events of a name until the function that is given back is called. A server that is gone is asked again. */
export function listen(what, name, hear, lost) {
  let source = null;
  let again = null;
  const open = () => {
    source = new EventSource(AT + what);
    source.addEventListener(name, (event) => hear(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      lost?.();
      // A refusal is for good, as browsers have it; a server that begins anew isn't.
      if (source.readyState === EventSource.CLOSED) again = setTimeout(open, 3000);
    });
  };
  open();
  return () => {
    clearTimeout(again);
    source.close();
  };
}
