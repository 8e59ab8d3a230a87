// SPDX-License-Identifier: MIT
// The machine in a thread of its own, so that a kernel cannot hang the page: the page ends this worker to stop
// it. Stands behind emscripten's make_machine.
'use strict';
let machine = null;

self.onmessage = async ({ data }) => {
  if (data.wasm) {
    machine = make_machine({ wasmBinary: data.wasm, print: () => {}, printErr: () => {} });
    return;
  }
  const began = performance.now();
  let answer = '{"error": "the machine of this page has stopped: its 64 MB are used up"}';
  try {
    const m = await machine;
    const size = m.lengthBytesUTF8(data.request) + 1;
    const at = m._malloc(size);
    m.stringToUTF8(data.request, at, size);
    answer = m.UTF8ToString(m._play(at));
    m._free(at);
  } catch (error) {
    machine = null;  // what it holds is worth nothing
  }
  self.postMessage({ id: data.id, answer, milliseconds: performance.now() - began });
};
