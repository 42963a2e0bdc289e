// What is shown stands in the address behind `#`, so that it can be kept, sent and gone back to.

export function here() {
  return new URLSearchParams(location.hash.slice(1));
}

/** An address of this page that shows something. */
export function to(pairs) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(pairs)) if (value) params.set(key, value);
  return `#${params}`;
}

/** Where a run's report is. */
export function report(name) {
  return `/runs/of/${name.split("/").map(encodeURIComponent).join("/")}/report.html`;
}

/** Where one run is held against another. */
export function comparison(a, b) {
  return `/runs/compare?${new URLSearchParams({ a, b })}`;
}
