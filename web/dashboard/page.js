// The page: which of its views is shown, and who may see it.

import { here } from "./address.js";
import { Locked, ask, order } from "./ask.js";
import { byId } from "./dom.js";
import { List } from "./list.js";
import { LiveRun } from "./live.js";
import { OneRun } from "./run.js";
import { themeSwitch } from "./theme.js";

/** Says what went wrong, or that nothing does any more. */
function trouble(error) {
  if (error instanceof Locked) return show("locked");
  byId("trouble").hidden = !error;
  byId("trouble").textContent = error ? `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.` : "";
}

const views = { list: new List(trouble), run: new OneRun(trouble), live: new LiveRun(trouble) };
let shown = null;

function show(name, what) {
  views[shown]?.hide();
  shown = name;
  for (const id of ["list", "run", "live", "locked"]) byId(id).hidden = id !== name;
  if (name !== "list") byId("picked").hidden = true;
  trouble(null);
  views[name]?.show(what);
  scrollTo(0, 0);
}

async function enter(key) {
  // The key is a password: it stays neither in the address nor in the history.
  history.replaceState(null, "", location.pathname);
  try {
    await order("enter", { key });
    byId("wrong").textContent = "";
    route();
  } catch (error) {
    show("locked");
    byId("wrong").textContent = error instanceof Locked ? "That is not the key." : error.message;
  }
}

function route() {
  const params = here();
  if (params.has("key")) enter(params.get("key"));
  else if (params.has("live")) show("live", params.get("live"));
  else if (params.has("run")) show("run", params.get("run"));
  else show("list");
}

byId("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  enter(byId("key").value.trim());
});
addEventListener("hashchange", route);
// Gone back to from a report or a comparison: things may have changed.
addEventListener("pageshow", (event) => event.persisted && route());
themeSwitch(byId("theme"));
route();
