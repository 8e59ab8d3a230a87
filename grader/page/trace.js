// SPDX-License-Identifier: MIT
// The slider of a trace's page: shows one step at a time. Without this script all steps stand one below the other.
(() => {
  const player = document.querySelector('.player');
  const steps = [...document.querySelectorAll('.step')];
  if (!player || steps.length === 0) return;
  const slider = player.querySelector('input');
  const said = player.querySelector('output');
  const [back, next] = ['back', 'next'].map((go) => player.querySelector(`[data-go=${go}]`));

  const show = (number, remember = true) => {
    const at = Math.min(Math.max(Math.round(number) || 1, 1), steps.length);
    steps.forEach((step, k) => step.classList.toggle('off', k !== at - 1));
    slider.value = at;
    said.textContent = `Step ${at} of ${steps.length}`;
    slider.setAttribute('aria-valuetext', `${at} of ${steps.length}: ${steps[at - 1].querySelector('h3').textContent}`);
    back.disabled = at === 1;
    next.disabled = at === steps.length;
    if (remember) history.replaceState(null, '', `#step-${at}`);
  };
  const here = () => Number(slider.value);

  slider.addEventListener('input', () => show(here()));
  back.addEventListener('click', () => show(here() - 1));
  next.addEventListener('click', () => show(here() + 1));
  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest('input, button, summary, a, [tabindex="0"]')) return;
    const to = { ArrowRight: here() + 1, ArrowLeft: here() - 1, Home: 1, End: steps.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
  window.addEventListener('hashchange', () => {
    const asked = /^#step-(\d+)$/.exec(location.hash);
    if (asked) show(Number(asked[1]));
  });

  document.documentElement.classList.add('stepping');
  player.hidden = false;
  const asked = /^#step-(\d+)$/.exec(location.hash);
  show(asked ? Number(asked[1]) : 1, false);
})();
