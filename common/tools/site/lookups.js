// SPDX-License-Identifier: MIT
// Four look-ups of a summed area table: the reader drags a box over the image, or moves it with the arrow keys (with
// shift, its far corner).
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const ITEMS = [3, 1, 7, 0, 4, 1, 6, 3];
  const image = [0, 1, 2, 3, 4].map((r) => ITEMS.map((_, c) => ITEMS[(r + c) % 8]).slice(0, 6));
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const table = image.map((row, r) => row.map((_, c) => sum(image.slice(0, r + 1).flatMap((one) => one.slice(0, c + 1)))));
  const [SIDE, WIDE, TOP] = [34, 42, 26]; // cells of the image and of the table; room for the titles

  function make(parent, name, attributes, words) {
    const one = parent.appendChild(document.createElementNS(SVG, name));
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    if (words !== undefined) one.textContent = words;
    return one;
  }

  // A grid of numbers; gives the rectangle of each cell.
  function grid(svg, left, width, title, values) {
    make(svg, 'text', { x: left, y: 16, class: 'bold' }, title);
    return values.map((row, r) =>
      row.map((value, c) => {
        const place = { x: left + c * width, y: TOP + r * SIDE };
        const cell = make(svg, 'rect', { ...place, width, height: SIDE, class: 'box' });
        const text = make(svg, 'text', { x: place.x + width / 2, y: place.y + 22, class: 'mono middle' }, value);
        return { cell, text };
      }));
  }

  function explore(place) {
    const [rows, columns] = [image.length, image[0].length];
    const svg = document.createElementNS(SVG, 'svg');
    const second = columns * SIDE + 24;
    svg.setAttribute('viewBox', `-4 0 ${second + columns * WIDE + 8} ${TOP + rows * SIDE + 4}`);
    svg.setAttribute('tabindex', '0');
    svg.setAttribute('role', 'application');
    svg.setAttribute('aria-label', 'A box over the image: drag it, or use the arrow keys, with shift for its far corner');
    const said = document.createElement('output');
    place.append(svg, said);
    const pixels = grid(svg, 0, SIDE, 'image: drag a box', image);
    const sums = grid(svg, second, WIDE, 'summed area table', table);
    let box = { top: 1, left: 1, bottom: 2, right: 3 };

    function show() {
      const { top, left, bottom, right } = box;
      const names = { A: [top - 1, left - 1], B: [top - 1, right], C: [bottom, left - 1], D: [bottom, right] };
      const at = ([r, c]) => (r < 0 || c < 0 ? 0 : table[r][c]);
      pixels.forEach((row, r) => row.forEach(({ cell }, c) => {
        cell.setAttribute('class', r >= top && r <= bottom && c >= left && c <= right ? 'box one' : 'box');
      }));
      sums.forEach((row, r) => row.forEach(({ cell, text }, c) => {
        const name = Object.keys(names).find((n) => names[n][0] === r && names[n][1] === c);
        cell.setAttribute('class', name ? 'box written' : 'box');
        text.textContent = name ? `${name} ${table[r][c]}` : table[r][c];
      }));
      const [a, b, c, d] = Object.values(names).map(at);
      said.textContent = `sum of the box = D − B − C + A = ${d} − ${b} − ${c} + ${a} = ${d - b - c + a}`;
    }

    const clamp = (value, most) => Math.min(Math.max(value, 0), most);
    function pixel(event) {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return { r: clamp(Math.floor((point.y - TOP) / SIDE), rows - 1), c: clamp(Math.floor(point.x / SIDE), columns - 1), x: point.x };
    }
    let from = null;
    svg.addEventListener('pointerdown', (event) => {
      const start = pixel(event);
      if (start.x > columns * SIDE) return;
      from = start;
      svg.setPointerCapture(event.pointerId);
      drag(event);
    });
    function drag(event) {
      if (!from) return;
      const to = pixel(event);
      box = { top: Math.min(from.r, to.r), bottom: Math.max(from.r, to.r), left: Math.min(from.c, to.c), right: Math.max(from.c, to.c) };
      show();
    }
    svg.addEventListener('pointermove', drag);
    svg.addEventListener('pointerup', () => { from = null; });
    svg.addEventListener('keydown', (event) => {
      const [dr, dc] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
      if (dr === undefined) return;
      event.preventDefault();
      const moved = { ...box, bottom: box.bottom + dr, right: box.right + dc };
      if (!event.shiftKey) Object.assign(moved, { top: box.top + dr, left: box.left + dc });
      if (moved.top < 0 || moved.left < 0 || moved.bottom >= rows || moved.right >= columns) return;
      if (moved.bottom < moved.top || moved.right < moved.left) return;
      box = moved;
      show();
    });
    show();
  }
  document.querySelectorAll('.lookups').forEach(explore);
})();
