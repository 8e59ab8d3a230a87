// SPDX-License-Identifier: MIT
// A prediction: the result opens after the reader has given a number, and says how far off it was. The guesses stay in this
// browser. Without this script a prediction is an ordinary fold.
for (const result of document.querySelectorAll('details.prediction')) {
  const { answer, unit = '' } = result.dataset;
  const question = result.querySelector('summary');
  const name = `guess ${location.pathname} ${question.textContent}`;
  const form = document.createElement('form');
  form.className = 'guess';
  form.innerHTML = '<label><span></span> <input type="number" step="any" required></label> <span></span> <button>Compare</button>';
  const [asked, units] = form.querySelectorAll('span');
  asked.append(...question.cloneNode(true).childNodes);
  units.textContent = unit;

  const show = (guess) => {
    const off = guess - answer;
    const share = Number(answer) === 0 ? '' : ` (${Math.round(Math.abs(100 * off / answer))} %)`;
    const note = document.createElement('p');
    note.className = 'guess';
    note.setAttribute('role', 'status');
    note.textContent = `Your guess: ${guess} ${unit}. The answer: ${answer}. ` +
      (off === 0 ? 'Exactly right.' : `Your guess is ${Number(Math.abs(off).toPrecision(3))} too ${off < 0 ? 'low' : 'high'}${share}.`);
    question.after(note);
    result.hidden = false;
    result.open = true;
    form.remove();
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const guess = form.querySelector('input').valueAsNumber;
    localStorage.setItem(name, guess);
    show(guess);
  });
  result.hidden = true;
  result.before(form);
  const kept = localStorage.getItem(name);
  if (kept !== null) show(Number(kept));
}
