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

/** A page of the server's. */
export function page(path, names) {
  const params = new URLSearchParams(names);
  return `/runs/${path}?${params}`;
}
