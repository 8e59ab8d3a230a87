// SPDX-License-Identifier: MIT
// The player of a trace: shows one step at a time, by button, slider, key or by itself. Without this script all steps
// are visible. `.steps` holds the elements `.step`; in a picture (`.grows`) a step is added to those before it. A page
// may have several; the keys work in the one that has the focus, or in the only one.
(() => {
  const PAUSE = 1400; // milliseconds for each step that plays by itself
  const lists = [...document.querySelectorAll('.steps')].filter((list) => list.querySelector('.step'));
  const alone = lists.length === 1;

  function element(name, attributes, words = '') {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = words;
    return made;
  }

  function play(list) {
    const steps = [...list.querySelectorAll('.step')];
    const last = steps.length - 1;
    const grows = list.matches('.grows');
    const title = (step) => step.dataset.title ?? step.querySelector('.moment').textContent;
    const bar = element('div', { class: 'player', role: 'group', 'aria-label': 'Steps' });
    const back = element('button', { type: 'button', 'data-go': 'back' }, '◀ Back');
    const slider = element('input', { type: 'range', min: 1, max: steps.length, value: 1, 'aria-label': 'Step' });
    const next = element('button', { type: 'button', 'data-go': 'next' }, 'Next ▶');
    const run = element('button', { type: 'button', 'data-go': 'play' }, 'Play');
    const said = element('output', { 'aria-live': 'polite' });
    bar.append(back, slider, next, run, said);
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
      said.textContent = `Step ${at + 1} of ${steps.length}${grows ? `: ${title(steps[at])}` : ''}`;
      back.disabled = at === 0;
      next.disabled = at === last;
      if (remember) history.replaceState(null, '', `#step-${at + 1}`);
    }
    function stop() {
      clearInterval(timer);
      timer = 0;
      run.textContent = 'Play';
    }
    function start() {
      if (at === last) show(0);
      timer = setInterval(() => {
        show(at + 1);
        if (at === last) stop();
      }, PAUSE);
      run.textContent = 'Pause';
    }
    const go = (k) => {
      stop();
      show(k);
    };

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
    if (alone) {
      const asked = () => /^#step-(\d+)$/.exec(location.hash)?.[1];
      window.addEventListener('hashchange', () => asked() && show(Number(asked()) - 1));
      show(Number(asked() ?? 1) - 1, false);
    } else if (grows) {
      show(last); // the whole picture, which the reader may take apart
    } else {
      show(Math.max(0, steps.findIndex((step) => step.querySelector('.arrow:not(.straight)')))); // the first that computes something
    }
  }
  lists.forEach(play);
})();
