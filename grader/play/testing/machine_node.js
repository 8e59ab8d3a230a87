// SPDX-License-Identifier: MIT
// The machine of the page in node, for tests: answers each line of standard input, a request, with a line.
// usage: node machine_node.js BUILD/play
'use strict';
const { readFileSync } = require('fs');
const { join, resolve } = require('path');
const { createInterface } = require('readline');

const folder = resolve(process.argv[2]);
const make_machine = require(join(folder, 'machine.js'));

const wasmBinary = readFileSync(join(folder, 'machine.wasm'));

async function answer_to(machine, line) {
  const m = await machine;
  const size = m.lengthBytesUTF8(line) + 1;
  const at = m._malloc(size);
  m.stringToUTF8(line, at, size);
  const answer = m.UTF8ToString(m._play(at));
  m._free(at);
  return answer;
}

(async () => {
  let machine = make_machine({ wasmBinary });
  for await (const line of createInterface({ input: process.stdin })) {
    let answer = null;
    for (let tries = 0; answer === null && tries < 2; ++tries) {
      try {
        answer = await answer_to(machine, line);
      } catch (error) {
        machine = make_machine({ wasmBinary });  // as worker.js does
      }
    }
    process.stdout.write(`${answer ?? '{"error": "its 128 MB are used up"}'}\n`);
  }
})();
