// SPDX-License-Identifier: MIT
// Below a table of pictures: two of them, one over the other, with a slider between them.
(() => {
  function make(parent, tag, attributes, words = '') {
    const one = parent.appendChild(document.createElement(tag));
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    one.append(words);
    return one;
  }

  for (const table of document.querySelectorAll('table')) {
    const cells = [...table.querySelectorAll('tbody td')];
    const pictures = cells.map((cell) => cell.querySelector('img'));
    if (cells.length < 2 || !pictures.every((picture) => picture?.alt)) continue;
    const titles = [...table.querySelectorAll('thead th')].map((cell) => cell.textContent);
    const place = document.createElement('div');
    place.className = 'compare';
    (table.closest('.md-typeset__scrollwrap') ?? table).after(place);
    const both = make(place, 'div', { class: 'pictures' });
    const [under, over] = [0, 1].map((k) => make(both, 'img', { src: pictures[k].src, alt: pictures[k].alt }));
    const slider = make(place, 'input', { type: 'range', min: 0, max: 100, value: 50 });
    const choice = make(make(place, 'label', {}, `${titles[0]} on the left, on the right `), 'select', {});
    for (let k = 1; k < titles.length; ++k) make(choice, 'option', { value: k }, titles[k]);
    const show = () => {
      over.src = pictures[choice.value].src;
      over.alt = pictures[choice.value].alt;
      over.style.clipPath = `inset(0 0 0 ${slider.value}%)`;
      slider.setAttribute('aria-label', `Left of the edge: ${under.alt}; right of it: ${over.alt}`);
    };
    slider.addEventListener('input', show);
    choice.addEventListener('change', show);
    show();
  }
})();
