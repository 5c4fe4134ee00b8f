/** The keyboard shortcut: what it is, how it is written, and when a key press is it. */

const APPLE = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

/** @typedef {{ key: string, mod: boolean, shift: boolean, alt: boolean }} Shortcut */

/**
 * Reads `mod+k`, `mod+shift+p`, `/`, several of them with spaces between, or `none`. `mod` is Cmd on Apple's systems and
 * Ctrl elsewhere.
 * @param {string | null} written null for the default
 * @returns {Shortcut[]}
 */
export function shortcuts(written) {
  return (written ?? 'mod+k').toLowerCase().split(/\s+/).filter((each) => each && each !== 'none').map((each) => {
    const parts = each.split('+');
    const key = parts.pop() ?? '';
    return { key, mod: parts.includes('mod'), shift: parts.includes('shift'), alt: parts.includes('alt') };
  });
}

/**
 * The keys as a person reads them, and as `aria-keyshortcuts` has them.
 * @param {Shortcut} given
 * @returns {[string, string]}
 */
export function names({ key, mod, shift, alt }) {
  const keys = (/** @type {string[]} */ ...all) => all.filter((_, index) => [mod, shift, alt, true][index]);
  const aria = keys(APPLE ? 'Meta' : 'Control', 'Shift', 'Alt', key).join('+');
  return [APPLE ? keys('⌘', '⇧', '⌥', key.toUpperCase()).join('') : keys('Ctrl', 'Shift', 'Alt', key.toUpperCase()).join(' '), aria];
}

/**
 * Whether an event is the shortcut. Where the layout has no Latin letters, the key is known by its place.
 * @param {KeyboardEvent} event
 * @param {Shortcut} given
 */
export function isPressed(event, given) {
  const mod = APPLE ? event.metaKey : event.ctrlKey;
  const other = APPLE ? event.ctrlKey : event.metaKey;
  const key = event.key > '~' ? event.code.replace('Key', '') : event.key;
  if (event.isComposing || event.repeat || key?.toLowerCase() !== given.key) return false;
  return mod === given.mod && !other && event.altKey === given.alt && (event.shiftKey === given.shift || given.key.length === 1 && !given.mod);
}

/** Whether the event comes from where a reader types, also inside another shadow root. @param {Event} event */
export function isTyping(event) {
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, [role=textbox], [role=combobox], [role=searchbox]'))
  );
}
