// Light or dark: as the system prefers, or as the reader chose here.

const KEPT = "netburn-theme";

/** Pages from disk, and those in frames, may have no store. */
function store(work) {
  try {
    return work(window.localStorage);
  } catch {
    return null;
  }
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

/** Calls back when the colours have changed. */
export function onTheme(changed) {
  dark.addEventListener("change", changed);
  document.addEventListener("netburn-theme", changed);
}

/** Makes a button switch between light and dark. */
export function themeSwitch(button) {
  const kept = store((s) => s.getItem(KEPT));
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const to = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = to;
    store((s) => s.setItem(KEPT, to));
    document.dispatchEvent(new Event("netburn-theme"));
  });
  onTheme(label);
  label();
}
