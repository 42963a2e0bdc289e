// The page: selects the view, and logs in with the key.

import { parameters } from "./address.js";
import { Unauthorized, post } from "./api.js";
import { byId, plain, prose } from "./dom.js";
import { List } from "./list.js";
import { LiveRun } from "./live.js";
import { Measurement } from "./measure.js";
import { OneRun } from "./run.js";
import { themeSwitch } from "./theme.js";

/** Shows an error; `null` hides it. */
function showError(error) {
  if (error instanceof Unauthorized) return show("login-view");
  byId("error").hidden = !error;
  byId("error").replaceChildren(...(error ? prose(plain(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)) : []));
}

const views = { list: new List(showError), run: new OneRun(showError), live: new LiveRun(showError), measure: new Measurement(showError) };
let shown = null;

function show(name, argument) {
  views[shown]?.hide();
  shown = name;
  for (const id of ["list", "run", "live", "measure", "login-view"]) byId(id).hidden = id !== name;
  if (name !== "list") byId("selection").hidden = true;
  showError(null);
  views[name]?.show(argument);
  scrollTo(0, 0);
}

async function login(key) {
  // The key is a password: remove it from the address and the history.
  history.replaceState(null, "", location.pathname);
  try {
    await post("login", { key });
    byId("login-error").textContent = "";
    route();
  } catch (error) {
    show("login-view");
    byId("login-error").textContent = error instanceof Unauthorized ? "Wrong key." : error.message;
  }
}

function route() {
  const params = parameters();
  if (params.has("key")) login(params.get("key"));
  else if (params.has("live")) show("live", params.get("live"));
  else if (params.has("run")) show("run", params.get("run"));
  else if (params.has("measure")) show("measure");
  else show("list");
}

byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  login(byId("key").value.trim());
});
addEventListener("hashchange", route);
// The user returned from a report or a comparison: the data may have changed.
addEventListener("pageshow", (event) => event.persisted && route());
themeSwitch(byId("theme"));
route();
