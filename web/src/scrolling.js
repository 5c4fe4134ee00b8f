/** Keeps the page below the dialog where it is, and the dialog above a phone's keyboard. The page's styles stay as they are. */

/**
 * @param {HTMLElement} dialog
 * @returns {() => void} ends it
 */
export function holdPage(dialog) {
  const life = new AbortController();
  const { signal } = life;
  /** @param {Event} event */
  const hold = (event) => {
    const zooms = event instanceof WheelEvent ? event.ctrlKey : /** @type {TouchEvent} */ (event).touches.length > 1;
    if (!zooms && !canScroll(event)) event.preventDefault();
  };
  for (const name of ['wheel', 'touchmove']) dialog.addEventListener(name, hold, { passive: false, signal });
  const viewport = window.visualViewport;
  const fit = () => {
    // A keyboard makes the visible part smaller than the page's; zooming does, too, and changes nothing.
    const covers = viewport && viewport.scale < 1.01 && viewport.height < window.innerHeight - 1;
    dialog.style.blockSize = covers ? `${viewport.height}px` : '';
    dialog.style.insetBlockStart = covers ? `${viewport.offsetTop}px` : '';
  };
  for (const name of ['resize', 'scroll']) viewport?.addEventListener(name, fit, { signal });
  fit();
  return () => life.abort();
}

/**
 * Whether something of the dialog scrolls under the pointer. At its end it does not pass on to the page, because
 * `overscroll-behavior` contains it.
 * @param {Event} event
 */
function canScroll(event) {
  return event.composedPath().some((each) => each instanceof HTMLElement && each.matches('.body, pre, .table')
    && (each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight));
}
