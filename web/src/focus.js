/** Where the keyboard is: it stays in the dialog, and returns to where it was. */

/** @returns {Element | null} the focused element, also inside shadow roots */
function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
}

/**
 * Remembers what has the focus.
 * @returns {() => void} gives it back; to the page's heading if the element is gone
 */
export function remember() {
  const before = focused();
  return () => {
    if (!before || before === document.body) return;
    if (before.isConnected && /** @type {HTMLElement} */ (before).checkVisibility()) {
      /** @type {HTMLElement} */ (before).focus({ preventScroll: true });
      return;
    }
    const heading = /** @type {HTMLElement | null} */ (
      document.querySelector('main h1') ?? document.querySelector('h1')
    );
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.addEventListener('blur', () => heading.removeAttribute('tabindex'), { once: true });
  };
}

/**
 * Tab at the last element goes to the first, and back.
 * @param {HTMLElement} dialog
 * @param {KeyboardEvent} event
 */
export function keepFocusIn(dialog, event) {
  const all = /** @type {HTMLElement[]} */ ([...dialog.querySelectorAll('a[href], button, input, [tabindex]')])
    .filter((each) => each.offsetParent && each.tabIndex >= 0);
  const [first, last] = event.shiftKey ? [all[all.length - 1], all[0]] : [all[0], all[all.length - 1]];
  if (event.composedPath()[0] !== last) return;
  event.preventDefault();
  first.focus();
}
