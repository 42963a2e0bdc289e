// The worker: an engine that answers one request after another.

let engine;
let started;

async function start(bytes) {
  const progress = (done, all) => postMessage({ progress: { done, all } });
  const { instance } = await WebAssembly.instantiate(bytes, { engine: { progress } });
  engine = instance.exports;
}

function call(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = engine.engine_input(bytes.length);
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  const length = engine.engine_call();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.engine_output(), length)));
}

onmessage = async ({ data }) => {
  try {
    // Requests can arrive before the module is compiled.
    if (data.start) started = start(data.start);
    await started;
    if (data.request) postMessage({ number: data.number, reply: call(data.request) });
  } catch (error) {
    // A trap leaves the engine in an unknown state, so the page starts another one.
    postMessage({ number: data.number, reply: { error: String(error?.message ?? error) }, broken: true });
  }
};
