// SPDX-License-Identifier: MIT
// What a page must keep, asked inside of it. Each function gives a list of complaints.
({
  // Does anything make the page wider than the window?
  overflow() {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const wide = [...document.querySelectorAll('body *')].filter((e) => {
      if (e.closest('.wide, pre, .md-typeset__table, .md-typeset__scrollwrap') && !e.matches('.wide, pre')) return false;
      return e.getBoundingClientRect().right > width + 1;
    });
    return [`the page is ${document.documentElement.scrollWidth} px wide in a window of ${width}: ` +
      wide.slice(0, 5).map((e) => `${e.tagName}.${e.getAttribute('class') ?? ''}`).join(', ')];
  },

  // WCAG 2.1, 1.4.3: the ratio of luminances of every visible text and what lies behind it.
  contrast() {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])).concat(1);
    const luminance = ([r, g, b]) => {
      const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const ratio = (a, b) => {
      const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
      return (x + 0.05) / (y + 0.05);
    };
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const behind = (element) => {
      const layers = [];
      if (element.ownerSVGElement) {
        // The shapes drawn before it that cover its middle.
        const box = element.getBoundingClientRect();
        const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
        for (const shape of [...element.ownerSVGElement.querySelectorAll('rect')].reverse()) {
          if (!(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
          const at = shape.getBoundingClientRect();
          if (x < at.left || x > at.right || y < at.top || y > at.bottom) continue;
          const fill = getComputedStyle(shape).fill;
          if (fill !== 'none') layers.push(rgba(fill));
        }
        element = element.ownerSVGElement;
      }
      for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
      return layers.reverse().reduce((below, top) => over(top, below), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
    };
    const complaints = new Map();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (element.closest('script, style, title, defs, [aria-hidden=true], .unseen, :disabled')) continue;
      const style = getComputedStyle(element);
      const ground = behind(element);
      const ink = over(rgba(element.ownerSVGElement ? style.fill : style.color), ground);
      const size = parseFloat(style.fontSize);
      const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
      const got = ratio(ink, ground);
      if (got < needed)
        complaints.set(`${element.tagName}.${element.getAttribute('class') ?? ''}`,
          `"${node.data.trim().slice(0, 30)}" in ${element.tagName}.${element.getAttribute('class') ?? ''} has a contrast of ${got.toFixed(2)}`);
    }
    return [...complaints.values()];
  },

  // Names, landmarks and labels that a screen reader needs.
  structure() {
    const complaints = [];
    const want = (good, what) => { if (!good) complaints.push(what); };
    const all = (selector) => [...document.querySelectorAll(selector)];
    want(document.documentElement.lang, 'the page has no language');
    want(document.title, 'the page has no title');
    want(all('h1').length === 1, `${all('h1').length} first-level headings`);
    want(all('main, [role=main]').length === 1, 'no main landmark');
    const named = (e) => e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() || e.title || e.labels?.length;
    for (const e of all('button, a[href], input:not([type=hidden]), [role=region], svg[role=img]'))
      if (e.checkVisibility()) want(named(e), `${e.outerHTML.slice(0, 80)} has no name`);
    for (const e of all('img')) want(e.hasAttribute('alt'), `${e.outerHTML.slice(0, 80)} has no alternative text`);
    for (const e of all('[aria-labelledby]'))
      for (const id of e.getAttribute('aria-labelledby').split(/\s+/)) want(document.getElementById(id), `#${id} names something and is not there`);
    const ids = all('[id]').map((e) => e.id);
    for (const id of new Set(ids.filter((id, k) => ids.indexOf(id) !== k))) complaints.push(`#${id} is there more than once`);
    let level = 0;
    for (const e of all('h1, h2, h3, h4, h5, h6')) {
      const now = Number(e.tagName[1]);
      want(level === 0 || now <= level + 1, `"${e.textContent.slice(0, 30)}" skips a level of headings`);
      level = now;
    }
    for (const e of all('a[href^="#"]')) {
      const id = decodeURIComponent(e.getAttribute('href').slice(1));
      want(!id || document.getElementById(id), `there is no #${id}`);
    }
    return complaints;
  },

  // Two texts of a drawing must not lie over each other, and all of a text must be inside of its drawing.
  drawings(root = document) {
    const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const complaints = [];
    for (const svg of root.querySelectorAll('svg')) {
      if (!seen(svg)) continue;
      const frame = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll('text')].filter((e) => e.textContent.trim() && seen(e))
        .map((e) => ({ words: e.textContent, box: e.getBoundingClientRect() })).sort((a, b) => a.box.left - b.box.left);
      texts.forEach(({ words, box }, k) => {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 3 || box.bottom > frame.bottom + 3)
          complaints.push(`"${words}" is cut at the edge of its drawing`);
        for (let j = k + 1; j < texts.length && texts[j].box.left < box.right - 1.5; ++j) {
          // A box is higher than its letters.
          const both = Math.min(box.bottom, texts[j].box.bottom) - Math.max(box.top, texts[j].box.top);
          if (both > 0.3 * Math.min(box.height, texts[j].box.height)) complaints.push(`"${words}" and "${texts[j].words}" overlap`);
        }
      });
    }
    return complaints;
  },

  // Letters of drawings can be read: in a page, or of a picture's file as wide as the window.
  letters() {
    return [...document.querySelectorAll('svg text')].map((e) => {
      const svg = e.ownerSVGElement, natural = svg.viewBox.baseVal.width || svg.clientWidth;
      const shown = svg === document.documentElement ? Math.max(innerWidth, parseFloat(svg.style.minWidth) || 0) : svg.getBoundingClientRect().width;
      return [e.textContent, parseFloat(getComputedStyle(e).fontSize) * shown / natural];
    }).filter(([, size]) => size > 0 && size < 10.99).map(([what, size]) => `${what}: letters of ${size} px`);
  },

  // Powers and indices are set as such, outside of code: no 2^28, no e_{b+1}, no e_B; and no mark of Markdown is left in a table.
  formulas() {
    const complaints = [], texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      if (node.parentElement.closest('script, style, pre, code, .mono')) continue;
      for (const [raw] of node.data.matchAll(/\w+\^\(?\w+|\w_\{[^}]*\}|\b\w_[A-Z]\b/g)) complaints.push(`${raw} is not set as a formula`);
    }
    for (const cell of document.querySelectorAll('td'))
      if (cell.textContent.includes('\\|')) complaints.push(`a raw mark in a table: ${cell.textContent}`);
    return complaints;
  },

  // What does not fit is not cut off unless it scrolls, and what is hidden takes no room.
  cut(root = document) {
    const complaints = [];
    const name = (e) => `${e.tagName}.${e.getAttribute('class') ?? ''} "${e.textContent.trim().slice(0, 30)}"`;
    for (const e of root.querySelectorAll(root === document ? 'main *, [hidden]' : '*')) {
      if (e.hidden && e.checkVisibility({ opacityProperty: true }) && e.getBoundingClientRect().height > 0) complaints.push(`${name(e)} is hidden and visible`);
      if (!e.clientWidth || !e.textContent.trim() || e.closest('.unseen, .headerlink, svg') || e.matches('.md-sidebar__scrollwrap')) continue;
      const { overflowX, overflowY } = getComputedStyle(e);
      if (/hidden|clip/.test(overflowX) && e.scrollWidth > e.clientWidth + 1) complaints.push(`${name(e)} is cut on the right`);
      if (/hidden|clip/.test(overflowY) && e.scrollHeight > e.clientHeight + 1) complaints.push(`${name(e)} is cut below`);
    }
    const range = document.createRange();
    for (const e of root.querySelectorAll('th[scope=col]')) // a word of a head is in one line
      if (range.selectNodeContents(e) ?? (range.getClientRects().length > 1 && /^\S+$/.test(e.textContent))) complaints.push(`${name(e)} is broken`);
    return complaints;
  },

  // Every step of every player: the page keeps its height, the values keep their column, and nothing lies over anything else.
  players() {
    const complaints = new Set();
    for (const player of document.querySelectorAll('.player')) {
      if (!player.checkVisibility()) continue;
      const slider = player.querySelector('input');
      const before = slider.value;
      const heights = new Set(), lefts = new Set();
      for (slider.value = 1; ; slider.stepUp()) {
        slider.dispatchEvent(new Event('input'));
        heights.add(document.body.getBoundingClientRect().height);
        const shown = player.parentElement.querySelector('li.step.now') ?? player.parentElement;
        const picture = [...shown.querySelectorAll('svg.trace')].find((svg) => svg.checkVisibility());
        if (picture) lefts.add(Math.round(picture.querySelector('.box').getBoundingClientRect().left));
        for (const one of [...this.drawings(shown), ...this.cut(shown)]) complaints.add(one);
        if (slider.value === slider.max) break;
      }
      slider.value = before;
      slider.dispatchEvent(new Event('input'));
      if (lefts.size > 1) complaints.add(`columns of the first value while a player steps: ${[...lefts].join(', ')}`);
      if (heights.size > 1) complaints.add(`heights of the page while a player steps: ${[...heights].join(', ')}`);
    }
    return [...complaints];
  },
})
