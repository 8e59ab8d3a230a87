// SPDX-License-Identifier: MIT
// The player of a trace: shows one step at a time, by button, slider, key or by itself. Without this script all steps
// are visible. `.steps` holds the elements `.step`; in a picture (`.grows`) a step is added to those before it. A page
// may have several; the keys work in the one that has the focus, or in the only one. All steps keep their place
// (style.css), so the page does not move. A player in `.front` plays by itself until it is touched.
(() => {
  const PAUSE = 1400, SLOW = 3000; // milliseconds for each step: when asked to play, and by itself
  const lists = [...document.querySelectorAll('.steps')].filter((list) => list.querySelector('.step'));
  const alone = lists.length === 1;

  function element(name, attributes, words = '') {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(words);
    return made;
  }

  function play(list) {
    const steps = [...list.querySelectorAll('.step')];
    const last = steps.length - 1;
    const grows = list.matches('.grows');
    const title = (step) => step.dataset.title ?? step.querySelector('.moment').textContent;
    const words = (k) => `Step ${k + 1} of ${steps.length}${grows ? `: ${title(steps[k])}` : ''}`;
    const bar = element('div', { class: 'player', role: 'group', 'aria-label': 'Steps' });
    const back = element('button', { type: 'button', 'data-go': 'back' }, '◀ Back');
    const slider = element('input', { type: 'range', min: 1, max: steps.length, value: 1, 'aria-label': 'Step' });
    const next = element('button', { type: 'button', 'data-go': 'next' }, 'Next ▶');
    const run = element('button', { type: 'button', 'data-go': 'play' }, 'Play');
    const said = element('output', {});
    // As high as the longest words.
    const longest = steps.map((_, k) => words(k)).reduce((a, b) => (b.length > a.length ? b : a));
    const room = element('div', { class: 'said' }, said);
    room.append(element('span', { 'aria-hidden': true }, longest));
    bar.append(back, slider, next, run, room);
    list.before(bar);
    list.parentElement.classList.add('stepping');
    let at = 0;
    let timer = 0;

    function show(k, remember = alone) {
      at = Math.min(Math.max(k, 0), last);
      steps.forEach((step, i) => {
        step.classList.toggle('off', grows ? i > at : i !== at);
        step.classList.toggle('now', i === at);
      });
      slider.value = at + 1;
      slider.setAttribute('aria-valuetext', `${at + 1} of ${steps.length}: ${title(steps[at])}`);
      said.textContent = words(at);
      back.disabled = at === 0;
      next.disabled = at === last;
      if (remember) history.replaceState(null, '', `#step-${at + 1}`);
    }
    function set(pause, step) {
      clearInterval(timer);
      timer = pause && setInterval(step, pause);
      run.textContent = timer ? 'Pause' : 'Play';
      said.setAttribute('aria-live', timer ? 'off' : 'polite');
    }
    const stop = () => set(0);
    const go = (k) => { stop(); show(k); };
    function start() {
      if (at === last) show(0);
      set(PAUSE, () => (at + 1 < last ? show(at + 1) : go(last)));
    }

    slider.addEventListener('input', () => go(Number(slider.value) - 1));
    back.addEventListener('click', () => go(at - 1));
    next.addEventListener('click', () => go(at + 1));
    run.addEventListener('click', () => (timer ? stop() : start()));
    (alone ? document : list.parentElement).addEventListener('keydown', (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.('input, summary, a, pre, .wide, textarea')) return;
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(to);
    });
    const asked = () => (alone && /^#step-(\d+)$/.exec(location.hash)?.[1]) || 0;
    window.addEventListener('hashchange', () => asked() && show(asked() - 1));
    // The whole picture, which the reader may take apart; of a trace, the first step that computes something.
    const first = steps.findIndex((step) => step.querySelector('.arrow:not(.straight)'));
    show(asked() ? asked() - 1 : grows ? last : Math.max(0, first), false);
    stop();
    if (list.closest('.front') && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
      set(SLOW, () => show((at + 1) % steps.length, false));
      list.addEventListener('pointerdown', stop);
      list.addEventListener('focusin', stop);
    }
  }
  lists.forEach(play);
})();
