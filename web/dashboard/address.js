// The view and its filters are in the address after `#`, so that users can bookmark and share it and go back to it.

export function parameters() {
  return new URLSearchParams(location.hash.slice(1));
}

/** The address of a view of this page. */
export function viewUrl(pairs) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(pairs)) if (value) params.set(key, value);
  return `#${params}`;
}

/** The address of a run's report. */
export function reportUrl(name) {
  return `/runs/of/${name.split("/").map(encodeURIComponent).join("/")}/report.html`;
}

/** The address of the comparison of run `a` with the baseline run `b`. */
export function comparisonUrl(a, b) {
  return `/runs/compare?${new URLSearchParams({ a, b })}`;
}
