// SPDX-License-Identifier: MIT
// The machine in a thread of its own, so that a kernel cannot hang the page: the page ends this worker to stop
// it. Stands behind emscripten's make_machine.
'use strict';
let wasm = null, machine = null;

function fresh() {
  const instantiateWasm = (imports, done) => {
    WebAssembly.instantiate(wasm, imports).then(done);
    return {};
  };
  return make_machine({ instantiateWasm, print: () => {}, printErr: () => {} });
}
async function answer_to(request) {
  machine ??= fresh();
  const m = await machine;
  const size = m.lengthBytesUTF8(request) + 1;
  const at = m._malloc(size);
  m.stringToUTF8(request, at, size);
  const answer = m.UTF8ToString(m._play(at));
  m._free(at);
  return answer;
}

self.onmessage = async ({ data }) => {
  if (data.wasm) {
    wasm = data.wasm;
    machine = fresh();
    return;
  }
  const began = performance.now();
  let answer = null;
  for (let tries = 0; answer === null && tries < 2; ++tries) {
    try {
      answer = await answer_to(data.request);
    } catch (error) {
      machine = null;  // its memory may be in pieces: a fresh one may have room
    }
  }
  answer ??= '{"error": "the machine of this page has stopped: its 128 MB are used up"}';
  self.postMessage({ id: data.id, answer, milliseconds: performance.now() - began });
};
