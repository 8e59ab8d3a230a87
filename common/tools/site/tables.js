// SPDX-License-Identifier: MIT
// Tables that are wider than the page scroll in a frame that the theme puts around them; this lets the keyboard reach it.
addEventListener('load', () => {
  for (const frame of document.querySelectorAll('.md-typeset__scrollwrap')) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
  }
});
