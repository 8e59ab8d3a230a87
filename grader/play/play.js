// SPDX-License-Identifier: MIT
// The page: what runs (the form), a run in the worker, and the steps of its answer. Reading order: start(), run(),
// show(). What is shown follows from the form and the number of the step; the address contains both, so a link
// shows the same step to somebody else.
'use strict';
(() => {
  const $ = (selector) => document.querySelector(selector);
  const form = $('#choice');
  const fields = ['lab', 'task', 'version', 'variant', 'block', 'items', 'n', 'seed', 'schedule', 'typed'];
  const field = (name) => form.elements[name];
  let labs = null, wasm = null, worker = null, running = null, answer = null, at = 0;

  // --- small helpers

  const make = (tag, attributes = {}, ...children) => ({ tag, attributes, children });
  // Gives an element the children that make() describes. What it has already stays, because a step changes little.
  function render(parent, ...children) {
    let node = parent.firstChild;
    for (const child of children.flat()) {
      if (typeof child === 'string') {
        if (node?.nodeType !== Node.TEXT_NODE) node = parent.insertBefore(new Text(), node);
        if (node.data !== child) node.data = child;
      } else {
        const { tag, attributes } = child, space = tag === 'svg' ? 'http://www.w3.org/2000/svg' : parent.namespaceURI;
        if (node?.localName !== tag) node = parent.insertBefore(document.createElementNS(space, tag), node);
        for (const name of Object.keys({ ...node.rendered, ...attributes }))
          if (attributes[name] === undefined) node.removeAttribute(name);
          else if (attributes[name] !== node.rendered?.[name]) node.setAttribute(name, attributes[name]);
        node.rendered = attributes;
        render(node, ...child.children);
      }
      node = node.nextSibling;
    }
    while (node) [node] = [node.nextSibling, node.remove()];
  }
  async function unpacked(id) {
    const text = atob($(id).textContent.trim());
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
  }
  const say = (text, bad = false) => {
    $('#status').textContent = text;
    $('#status').className = bad ? 'bad' : '';
  };
  const bits = (mask) => Array.from({ length: 32 }, (_, k) => k).filter((k) => mask >>> k & 1);

  // --- the form: each choice depends on those before it

  function options(name, list, wanted) {
    const select = field(name);
    const before = wanted ?? select.value;
    render(select, list.map(([value, text]) => make('option', { value }, text)));
    select.value = list.some(([value]) => value === before) ? before : list[0]?.[0];
  }
  const lab = () => labs[field('lab').value];
  // What make_play.py's Packer has packed, unpacked when a lab is first chosen.
  const load = async (name) => {
    labs[name].packed ??= await unpacked(`#lab-${name}`).then((r) => r.json());
  };
  const copy = (size) => lab().packed.sizes[size]?.[field('version').value];
  const program = () => copy(field('block').value);
  const variants_of = (one) => one?.tasks[field('task').value];
  const lengths_of = (ranges) => lab().packed.ranges[ranges] ?? [];

  const text_of = (number) => lab().packed.texts[number];
  // The launches for n items; null if there are none.
  function work_for(ranges, n) {
    const range = lengths_of(ranges).find(([first, last]) => first <= n && n <= last);
    if (!range) return null;
    const [first, , template, numbers, growth] = range;
    let k = 0;
    const text = lab().packed.templates[template].replace(/#/g, () => numbers[k] + (growth[k++] ?? 0) * (n - first));
    return JSON.parse(text);
  }
  // The text of a version, as make_versions.py has made it for the chosen size.
  function source() {
    const { source: base, edits } = lab().packed;
    const lines = [...base];
    for (const [first, removed, inserted] of edits[field('block').value]?.[field('version').value] ?? []) lines.splice(first, removed, ...inserted);
    return lines.join('\n');
  }
  async function fill(wanted = {}) {
    options('lab', Object.entries(labs).map(([id, l]) => [id, l.title]), wanted.lab);
    await load(field('lab').value);
    options('task', lab().tasks.map((t) => [t.id, t.title]), wanted.task);
    const offered = lab().versions.filter((v) => (!v.task || v.task === field('task').value) &&
      Object.values(lab().packed.sizes).some((size) => size[v.id]?.tasks[field('task').value]));
    options('version', offered.map((v) => [v.id, v.task ? `wrong: ${v.about}` : v.about]), wanted.version);
    const sizes = Object.keys(lab().packed.sizes).filter((size) => variants_of(copy(size)));
    options('block', sizes.map((size) => [size, size]), wanted.block);
    const names = Object.keys(variants_of(program()) ?? {}).sort((a, b) => b.endsWith('sum_i32') - a.endsWith('sum_i32'));
    options('variant', names.map((v) => [v, v.replaceAll('_', ' ')]), wanted.variant);
    const patterns = ['example', 'random', 'ascending', 'descending', 'all_equal', 'alternating', 'extremes']
      .filter((name) => lab().items[field('variant').value]?.includes(name));
    const names_of_items = { typed: 'typed below', example: '3 1 7 0 4 1 6 3' };
    options('items', [...patterns, 'typed'].map((p) => [p, names_of_items[p] ?? p.replace('_', ' ')]),
      wanted.items);
    for (const name of ['n', 'seed', 'schedule', 'typed']) if (wanted[name] !== undefined) field(name).value = wanted[name];
    $('#typed').hidden = field('items').value !== 'typed';
    offer_lengths(wanted.n === undefined);
    const task = lab().tasks.find((t) => t.id === field('task').value);
    const version = lab().versions.find((v) => v.id === field('version').value);
    $('#about').textContent = version?.task ? `${task.title}. What is wrong: ${version.about}` : task.title;
  }

  // Where the source explains the chosen kernel: the line of its heading ("// --- Rung 3 …").
  function section_in(lines) {
    const host = lines.findIndex((line) => line.includes(`Status ${field('task').value}(`));
    return Math.max(0, lines.findLastIndex((line, k) => k < host && line.startsWith('// --- ')));
  }

  function offer_lengths(choose) {
    const ranges = lengths_of(variants_of(program())?.[field('variant').value]);
    const n = Number(field('n').value);
    field('n').max = ranges.at(-1)?.[1] ?? n;
    if (!choose || !ranges.length || ranges.some(([first, last]) => first <= n && n <= last)) return;
    field('n').value = ranges.findLast(([, last]) => last < n)?.[1] ?? ranges[0][0];
  }

  // --- the address

  // Browsers refuse too many changes of the address, so it follows when the reader pauses.
  let pause = 0;
  function remember_later() {
    clearTimeout(pause);
    pause = setTimeout(remember, 200);
  }
  function remember() {
    clearTimeout(pause);
    const state = new URLSearchParams();
    for (const name of fields)
      if (name !== 'typed' || field('items').value === 'typed') state.set(name, field(name).value);
    state.set('step', at);
    history.replaceState(null, '', `#${state}`);
  }
  const state_in = ({ hash }) => Object.fromEntries(new URLSearchParams(hash.slice(1)));

  // --- a run

  function new_worker() {
    worker?.terminate();
    const code = new Blob([$('#worker').textContent], { type: 'text/javascript' });
    const address = URL.createObjectURL(code);
    worker = new Worker(address);
    worker.postMessage({ wasm });
    worker.onmessage = ({ data: { id, answer: text, milliseconds } }) => {
      if (id !== running?.id) return;
      finish(JSON.parse(text), milliseconds);
      window.dispatchEvent(new CustomEvent('played', { detail: text }));
    };
    worker.onerror = () => finish({ error: 'the machine could not be started in this browser' }, 0);
  }
  function request() {
    const typed = field('items').value === 'typed' ?
      field('typed').value.trim().split(/[\s,]+/).filter(Boolean).map(Number) : null;
    if (typed?.some((x) => !Number.isFinite(x))) return { error: 'Your items are not all numbers.' };
    if (typed) field('n').value = typed.length;
    const n = Number(field('n').value);
    const ranges = variants_of(program())?.[field('variant').value];
    const work = work_for(ranges, n);
    if (!work) {
      const some = lengths_of(ranges).map(([first, last]) => [first, last]);
      for (let k = some.length - 1; k > 0; --k)  // ranges that follow each other are one
        if (some[k - 1][1] + 1 === some[k][0]) some[k - 1][1] = some.splice(k, 1)[0][1];
      return { error: `This kernel is not offered here with ${n} items, but with ${some.map(([first, last]) =>
        first === last ? first : `${first} to ${last}`).join(', ')}.` };
    }
    const entries = program().texts ??=
      new Map(program().entries.map(text_of).map((text) => [text.match(/\.entry (\w+)\(/)[1], text]));
    const kernels = new Set(work.map((w) => w.kernel).filter(Boolean));
    const ptx = text_of(program().head) + [...kernels].map((k) => entries.get(k)).join('');
    return { lab: field('lab').value, task: field('task').value, variant: field('variant').value, n, typed, ptx, work,
      items: typed ? 'random' : field('items').value, seed: Number(field('seed').value), schedule: Number(field('schedule').value) };
  }
  function run(step = 0, plays = false) {
    play(false);
    const asked = request();
    if (asked.error) {
      say(asked.error, true);
      window.dispatchEvent(new CustomEvent('played', { detail: JSON.stringify(asked) }));
      return;
    }
    const launches = asked.work.filter((w) => w.kernel), blocks = launches.map((w) => w.block.reduce((a, b) => a * b));
    running = { id: (running?.id ?? 0) + 1, step, plays, launches, blocks };
    $('#stop').disabled = false;
    say('Running …');
    worker.postMessage({ id: running.id, request: JSON.stringify(asked) });
  }
  function finish(result, milliseconds) {
    $('#stop').disabled = true;
    if (result.error) {
      say(`There is no run: ${result.error}`, true);
      return;
    }
    answer = result;
    answer.run = running;
    for (const array of answer.arrays) array.used = 0;  // elements up to the last that is accessed
    for (const { a } of answer.steps)
      for (const { x, lanes } of a ?? [])
        if (x !== undefined) answer.arrays[x].used = lanes.reduce((most, [, k]) => Math.max(most, k + 1), answer.arrays[x].used);
    current = null;
    const wrong = answer.fault || answer.mismatch ? ' Its result is wrong.' : answer.right ? ' Its result is right.' : '';
    const found = /^error/m.test(answer.findings) ? ' The checkers found an error.' : '';
    const is_wrong = lab().versions.find(({ id }) => id === field('version').value)?.task;
    const hidden = is_wrong && answer.right && !found && !answer.fault ?
      ' What is wrong with this version does not show in this run: try other items, operators or schedules.' : '';
    say(`The run took ${answer.steps.length} steps.${wrong}${found}${hidden} (${milliseconds.toFixed(0)} ms)`);
    $('#player').hidden = false;
    $('#slider').max = answer.steps.length;
    show_once();
    show(Math.min(running.step, answer.steps.length));
    play(running.plays);
  }

  // --- what does not depend on the step

  function show_once() {
    const result = $('#result > div');
    const wrong = answer.mismatch;
    const racy = /^error/m.test(answer.findings);
    const verdict = answer.fault ? ['bad', `The run ended early: ${answer.fault}`] :
      wrong ? ['bad', `Wrong: ${wrong.wrong} of ${wrong.total} elements of ${wrong.buffer} differ. ${wrong.hint ?? ''}`] :
        racy ? ['bad', 'The values are right in this run, but the checkers found an error.'] : ['good', 'The result is right.'];
    const tables = answer.outputs.map(({ name: output, got, expected }) => {
      const row = (name, values) => make('tr', {}, make('th', {}, name), ...values.slice(0, 64).map((v, k) =>
        make('td', { class: got[k] === expected[k] ? '' : 'bad' }, v)));
      const rows = [row(`${output}: expected`, expected), row('this run', got)];
      return make('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': `Values of ${output}` },
        make('table', {}, ...rows));
    });
    render(result, make('p', { class: verdict[0] }, verdict[1]), tables);
    $('#findings > pre').textContent = answer.findings || 'Nothing: no race, no access out of bounds, no unset value, no wrong barrier.';
    marked.clear();
    show_lines();
    const lines = source().split('\n');
    const found = new Set([...answer.findings.matchAll(/\.cu:(\d+)/g)].map(([, n]) => Number(n)));
    answer.about = launch_texts();
    $('#source > pre').replaceChildren();
    render($('#source > pre'), lines.map((line, k) => make('span', { class: found.has(k + 1) ? 'line found' : 'line' },
      make('span', { class: 'n' }, String(k + 1)), make('span', { class: 'who' }), ` ${line}\n`)));
    $('#source > pre').scrollTop = $('#source > pre').children[section_in(lines)].offsetTop - $('#source > pre').offsetTop;
  }

  // What the parameters of each launch stand for, where the source has other names than those of the arrays.
  function launch_texts() {
    const text = source();
    return answer.launches.map(({ kernel: signature, arguments: passed }, k) => {
      const kernel = signature.match(/\w+(?=[<(])/)?.[0] ?? signature;
      const { grid, block } = answer.run.launches[k], product = (sizes) => sizes.reduce((a, b) => a * b);
      let declared = text.match(new RegExp(`\\b${kernel}\\(([^{;]*)\\) *\\{`))?.[1] ?? '';
      while (/<[^<>]*>/.test(declared)) declared = declared.replace(/<[^<>]*>/g, '');
      const names = declared.split(',').map((one) => one.match(/\w+(?=\W*$)/)?.[0]);
      const places = passed.filter(([p, array, first]) => names[p] && (names[p] !== array || first !== 0))
        .map(([p, array, first]) => `${names[p]} is ${first ? `${array} from element ${first}` : array}`);
      return `Launch ${k + 1} of ${answer.launches.length}: ${kernel}, ${product(grid)} × ${product(block)} threads. ${places.join(', ')}`;
    });
  }

  // --- what each line of the source costs

  const threads_of = (step) => Math.max(0, Math.min(32, answer.run.blocks[step.l] - 32 * step.w));
  const number_of = (mask) => bits(mask).length;

  function show_lines() {
    const rows = new Map();
    for (const step of answer.steps) {
      if (!step.n) continue;
      const row = rows.get(step.n) ?? { times: 0, active: new Set(), threads: 0, passes: 0, conflicts: 0, sectors: 0 };
      rows.set(step.n, row);
      row.times += 1;
      row.active.add(number_of(step.m));
      row.threads = Math.max(row.threads, threads_of(step));
      for (const access of step.a ?? [])
        for (const key of ['passes', 'conflicts', 'sectors']) row[key] += access[key] ?? 0;
    }
    const lines = source().split('\n'), cells = (tag, texts) => texts.map((text) => make(tag, {}, String(text)));
    const head = ['line', 'executed by warps', 'active threads', 'wavefronts', 'of them conflicts', 'sectors'];
    render($('#lines table'), make('tr', {}, cells('th', head)), [...rows].sort(([a], [b]) => a - b).map(([n, row]) => make('tr', {},
      make('th', { scope: 'row' }, `${n} `, make('code', {}, (lines[n - 1] ?? '').trim().slice(0, 70))),
      cells('td', [`${row.times}×`, `${[...row.active].sort((a, b) => b - a).join(', ')} of ${row.threads}`,
        row.passes || '', row.conflicts || '', row.sectors || '']))));
  }

  // --- the state after a number of steps: from the one shown last, or from the first one, one step after the other

  let current = null;

  function first_state() {
    const values = answer.arrays.map(() => new Map());
    for (const input of answer.inputs) {
      const array = answer.arrays.findIndex((a) => a.name === input.name && a.block < 0);
      if (array >= 0) input.values.forEach((v, k) => values[array].set(k, v));
    }
    return { count: 0, values, warps: new Map() };  // warps of the launch that runs: by block and number
  }
  function take(state, step) {
    if (step.k === 'launch') state.warps.clear();
    if (step.k === 'ends') for (const [id, w] of state.warps) if (w.b === step.b) state.warps.set(id, { ...w, ended: true });
    if (step.k === 'line') state.warps.set(`${step.b}.${step.w}`, step);
    for (const access of step.a ?? [])
      if (access.t === 'store' || access.t === 'atomic') for (const [, k, v] of access.lanes) state.values[access.x].set(k, v);
    state.count += 1;
  }
  function state_after(count) {
    if (!current || current.count > count) current = first_state();
    while (current.count < count) take(current, answer.steps[current.count]);
    return current;
  }

  function describe(step) {
    if (!step) return 'before the first launch';
    const block = `block ${step.b}`;
    return { begins: `${block} starts`, ends: `${block} has ended`, barrier: `all threads of ${block} have passed a barrier`,
      host: 'the host has written an array', fault: `${block} has ended the launch`, launch: `launch ${step.l + 1} has ended`,
      line: `${block}, warp ${step.w} executes line ${step.n}` }[step.k];
  }

  function show(number) {
    at = Math.min(Math.max(number, 0), answer.steps.length);
    const step = answer.steps[at - 1];
    const state = state_after(at);
    $('#slider').value = at;
    const text = `Step ${at} of ${answer.steps.length}: ${describe(step)}`;
    $('#moment').textContent = text;
    $('#slider').setAttribute('aria-valuetext', text);
    $('#launch').textContent = answer.about[step?.l ?? 0] ?? '';
    for (const go of ['first', 'unbarrier', 'back']) $(`[data-go=${go}]`).disabled = at === 0;
    for (const go of ['next', 'barrier', 'last']) $(`[data-go=${go}]`).disabled = at === answer.steps.length;
    const line = show_source(step, state), { shown, written } = show_arrays(step, state);
    show_lanes(step, state);
    show_access(step);
    // What asks for positions comes last, so that the browser computes them once.
    scroll_to(line);
    draw_arrows(shown, written);
    remember_later();
  }

  const marked = new Set();  // lines of the source

  function show_source(step, { warps }) {
    const lines = $('#source > pre').children;
    for (const line of marked) {
      line.classList.remove('now');
      line.children[1].textContent = '';
    }
    marked.clear();
    for (const w of warps.values()) {
      const line = lines[w.n - 1];
      if (!line || w.ended || (step && w.b !== step.b)) continue;
      marked.add(line);
      line.children[1].textContent += `${line.children[1].textContent ? ',' : 'warp '}${w.w}`;
    }
    const line = step?.n ? lines[step.n - 1] : undefined;
    if (!line) return null;
    marked.add(line);
    line.classList.add('now');
    return line;
  }
  function scroll_to(line) {
    if (!line) return;
    const pre = $('#source > pre'), top = line.offsetTop - pre.offsetTop - pre.scrollTop;
    if (top < 0 || top + line.offsetHeight > pre.clientHeight) pre.scrollTop += top - pre.clientHeight / 3;
  }

  const here = (array, step) => array.block < 0 || (step && array.block === (step.b ?? -2) && array.launch === step.l);

  function show_arrays(step, { values }) {
    const read = new Set(), written = new Map();
    for (const access of step?.a ?? [])
      for (const [, k, , from] of access.lanes)
        if (access.t === 'load') read.add(`${access.x}.${k}`);
        else if (access.t !== 'shuffle') written.set(`${access.x}.${k}`, from ?? []);
    const shown = answer.arrays.map((array, x) => x).filter((x) => here(answer.arrays[x], step));
    const rows = shown.map((x) => {
      const array = answer.arrays[x], count = Math.min(array.count, Math.max(array.used, array.count <= 64 ? array.count : 1), 256);
      const cells = Array.from({ length: count }, (_, k) => {
        const id = `${x}.${k}`, state = written.has(id) ? ' written' : read.has(id) ? ' read' : '';
        return make('span', { class: `cell${state}` }, make('i', {}, String(k)), values[x].get(k) ?? '·');
      });
      if (array.count > count) cells.push(make('span', { class: 'cell' }, '…'));
      const owner = array.block < 0 ? '' : `, block ${array.block}`;
      return make('div', { class: 'array' }, make('span', { class: 'name' }, array.name + owner), make('div', { class: 'cells' }, ...cells));
    });
    render($('#arrays .rows'), rows);
    return { shown, written };
  }

  // Lines from the elements from which a stored value was computed to its cell.
  function draw_arrows(shown, written) {
    const box = $('#arrays .rows'), origin = box.getBoundingClientRect();
    const cell = (x, k) => box.children[shown.indexOf(x)].lastChild.children[k];
    const middle = (node, bottom) => {
      const r = node.getBoundingClientRect();
      return [r.left + r.width / 2 - origin.left, (bottom ? r.bottom : r.top) - origin.top];
    };
    let lines = '', ends = '';  // one path each, which is faster than an element for each arrow
    for (const [id, from] of written) {
      const [array, element] = id.split('.').map(Number), target = cell(array, element);
      for (const [name, k] of target ? from : []) {
        const x = shown.find((one) => answer.arrays[one].name === name);
        const source = x !== undefined && cell(x, k);
        if (!source || source === target) continue;
        const above = x < array, same = x === array;
        const [x1, y1] = middle(source, above || same), [x2, y2] = middle(target, !above || same);
        const end = `${x2} ${y2 + (same ? 9 : 0)}`;
        lines += `M${x1} ${y1 + (same ? 1 : 0)}L${end}`;
        ends += `M${end}h0`;
      }
    }
    render($('#arrays svg'), make('path', { d: lines }), make('path', { class: 'ends', d: ends }));
  }

  function show_lanes(step, { warps }) {
    const rows = [...warps.values()].filter((w) => !w.ended).sort((a, b) => a.b - b.b || a.w - b.w).map((w) => {
      const current = w === step;
      const lanes = Array.from({ length: threads_of(w) }, (_, k) => {
        const has = (mask) => mask >>> k & 1;
        const look = !has(w.live) ? 'gone' : has(w.wait ?? 0) ? 'waits' : has(w.m) ? (current ? 'active' : 'waits-turn') : 'idle';
        const word = { gone: 'has exited', waits: 'waits', active: 'executes this line', idle: 'does not take part', 'waits-turn': 'not its turn' }[look];
        return make('span', { class: `lane ${look}`, title: `thread ${32 * w.w + k}: ${word}` }, String(32 * w.w + k));
      });
      return make('div', { class: 'warp' }, make('span', { class: 'name' }, `block ${w.b}, warp ${w.w}`), make('span', {}, ...lanes),
        make('span', { class: 'note' }, `line ${w.n}: ${number_of(w.m)} of ${number_of(w.live)} threads`));
    });
    render($('#lanes > div'), rows.length ? rows : [make('p', { class: 'note' }, 'No block runs at this step.')]);
  }

  function show_access(step) {
    const parts = (step?.a ?? []).map((access) => {
      if (access.t === 'shuffle') return make('p', {}, `shuffle: lanes get ${access.lanes.map(([, , v]) => v).join(' ')}`);
      const array = answer.arrays[access.x];
      const text = `${access.t} of ${array.name}: ${new Set(access.lanes.map(([, k]) => k)).size} elements`;
      if (array.block < 0) return make('p', {}, step.k === 'host' ? text : `${text}, ${access.sectors} sectors of 32 bytes`);
      const banks = new Map();
      for (const [lane, k] of access.lanes) {
        const word = Math.floor((array.start + k * array.width) / 4);
        const bank = banks.get(word % 32) ?? new Map();
        banks.set(word % 32, bank.set(word, [...bank.get(word) ?? [], lane]));
      }
      const cells = Array.from({ length: 32 }, (_, b) => {
        const words = banks.get(b)?.size ?? 0;
        return make('span', { class: `lane ${words > 1 ? 'waits' : words ? 'active' : 'idle'}`, title: `bank ${b}: ${words} words` }, String(words || '·'));
      });
      return make('div', {}, make('p', {}, `${text}, ${access.passes} wavefronts, ${access.conflicts} of them because of bank conflicts. Words in each bank:`),
        make('p', {}, ...cells));
    });
    render($('#access > div'), parts.length ? parts : [make('p', { class: 'note' }, 'This step accesses no array.')]);
  }

  // --- moving

  // Plays by itself, slowly, until the reader touches something.
  let timer = 0;
  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => (at < answer.steps.length ? show(at + 1) : play(false)), 800) : 0;
    $('#play').textContent = timer ? 'Pause' : 'Play';
  }
  function to_barrier(by) {
    let k = at + by;
    while (k > 0 && k < answer.steps.length && !['barrier', 'launch', 'ends'].includes(answer.steps[k - 1].k)) k += by;
    return k;
  }
  const moves = { first: () => 0, back: () => at - 1, next: () => at + 1, last: () => answer.steps.length,
    barrier: () => to_barrier(1), unbarrier: () => to_barrier(-1) };
  const keys = { ArrowRight: 'next', ArrowLeft: 'back', Home: 'first', End: 'last', PageDown: 'barrier', PageUp: 'unbarrier' };

  function listen() {
    form.addEventListener('change', ({ target }) => fill(target === field('n') ? { n: target.value } : {}));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      scrollTo(0, 0);
      run();
    });
    $('#stop').addEventListener('click', () => {
      running = { id: running.id + 1 };
      new_worker();
      $('#stop').disabled = true;
      say('Stopped.');
    });
    $('#play').addEventListener('click', () => play(!timer));
    for (const touch of ['pointerdown', 'keydown'])
      document.addEventListener(touch, ({ target }) => target.id === 'play' || play(false));
    for (const button of document.querySelectorAll('[data-go]'))
      button.addEventListener('click', () => show(moves[button.dataset.go]()));
    $('#slider').addEventListener('input', () => show(Number($('#slider').value)));
    document.addEventListener('keydown', (event) => {
      if (!answer || event.altKey || event.ctrlKey || event.metaKey || !keys[event.key]) return;
      if (event.target.closest('select, input:not([type=range]), pre, .scroll')) return;
      event.preventDefault();
      show(moves[keys[event.key]]());
    });
    window.addEventListener('hashchange', async ({ newURL }) => {
      clearTimeout(pause);  // what would be remembered now is the step before
      const wanted = state_in(new URL(newURL));
      form.reset();  // what the link leaves out does not depend on what was chosen before
      for (const select of form.querySelectorAll('select')) select.value = '';
      await fill(wanted);
      run(Number(wanted.step) || 0);
    });
  }

  async function start() {
    say('Unpacking …');
    // The machine is compiled once, while it is unpacked; each worker gets the result.
    const compiled = unpacked('#wasm').then(({ body }) =>
      WebAssembly.compileStreaming(new Response(body, { headers: { 'Content-Type': 'application/wasm' } })));
    labs = await unpacked('#labs').then((r) => r.json());
    const wanted = state_in(location);
    await fill({ items: 'example', ...wanted });
    wasm = await compiled;
    new_worker();
    listen();
    run(Number(wanted.step) || 0, !location.hash && !matchMedia('(prefers-reduced-motion: reduce)').matches);
  }
  start().catch((error) => say(`This browser cannot run the page: ${error.message}`, true));
})();
