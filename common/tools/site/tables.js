// SPDX-License-Identifier: MIT
// What is wider than the page scrolls: tables in a frame that the theme puts around them, code in its block. This
// lets the keyboard reach it, also after a part was unfolded or the window has changed.
addEventListener('load', () => {
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
  });
  for (const frame of document.querySelectorAll('.md-typeset__scrollwrap, pre > code, .picture')) sized.observe(frame);
});
