// SPDX-License-Identifier: MIT
// A folded result opens after the reader has written down a guess, which is then shown beside it. The guesses stay in
// this browser.
(() => {
  const words = /predict them before you look|decide before you look|guess them before you look/;

  function guard(details, name) {
    const summary = details.querySelector(':scope > summary');
    if (!summary || !words.test(summary.textContent)) return;
    const kept = localStorage.getItem(name);
    const form = document.createElement('form');
    form.className = 'guess';
    const label = document.createElement('label');
    label.textContent = 'Your guess: ';
    const field = document.createElement('input');
    field.type = 'text';
    field.required = true;
    label.append(field);
    const button = document.createElement('button');
    button.textContent = 'Compare with the result';
    form.append(label, button);
    details.before(form);

    function show(guess) {
      const note = document.createElement('p');
      note.className = 'guess';
      note.textContent = `Your guess: ${guess}`;
      summary.after(note);
      form.remove();
      details.hidden = false;
    }

    if (kept) {
      show(kept);
      return;
    }
    details.hidden = true;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      localStorage.setItem(name, field.value);
      show(field.value);
      details.open = true;
    });
  }

  function guardAll() {
    document.querySelectorAll('article details').forEach((details, k) => guard(details, `guess ${location.pathname} ${k}`));
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', guardAll);
  else guardAll();
})();
