// A scenario in the fragment of an address, which browsers do not send to any server.

const LINK_KEY = "home=";
/** Maximum length of a shared scenario in bytes, as of the engine. */
export const MAX_TEXT = 64 * 1024;

async function through(bytes, transform, most = Infinity) {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  const parts = [];
  let length = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    // A small link can expand to a text of any size.
    if (length > most) {
      await reader.cancel();
      throw new RangeError(`the link holds more than ${most} bytes`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The fragment of an address that opens `text`. */
export async function fragment(text) {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const base64 = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  return `#${LINK_KEY}${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The scenario in a fragment; `null` if it has none. Rejects a damaged or too large one. */
export async function shared(hash) {
  if (!hash.startsWith(`#${LINK_KEY}`)) return null;
  const base64 = hash.slice(1 + LINK_KEY.length).replaceAll("-", "+").replaceAll("_", "/");
  const packed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const bytes = await through(packed, new DecompressionStream("deflate-raw"), MAX_TEXT);
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/** The name of a story or a built-in scenario in a fragment: `#story=…`, `#scenario=…`; `null` without. */
export function named(hash) {
  const found = /^#(story|scenario)=([a-z0-9-]{1,60})$/.exec(hash);
  return found && { kind: found[1], name: found[2] };
}
