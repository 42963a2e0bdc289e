// The colour theme: the system's preference, or the user's choice on this page.

const KEY = "netburn-theme";

/** Accesses the local storage, which may be unavailable for files and in frames. */
function withStorage(access) {
  try {
    return access(window.localStorage);
  } catch {
    return null;
  }
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

/** Calls `callback` after each change of the theme. */
export function onTheme(callback) {
  dark.addEventListener("change", callback);
  document.addEventListener("netburn-theme", callback);
}

/** Makes `button` switch between the light and the dark theme. */
export function themeSwitch(button) {
  const saved = withStorage((s) => s.getItem(KEY));
  if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const to = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = to;
    withStorage((s) => s.setItem(KEY, to));
    document.dispatchEvent(new Event("netburn-theme"));
  });
  onTheme(label);
  label();
}
