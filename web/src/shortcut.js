/** The keyboard shortcut: what it is, how it is written, and when a key press is it. */

const APPLE = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

/** @typedef {{ key: string, mod: boolean, shift: boolean, alt: boolean }} Shortcut */

/**
 * Reads `mod+k`, `mod+shift+p`, `/` or `none`. `mod` is Cmd on Apple's systems and Ctrl elsewhere.
 * @param {string | null} written null for the default
 * @returns {Shortcut | null}
 */
export function shortcut(written) {
  const parts = (written ?? 'mod+k').toLowerCase().trim().split('+');
  const key = parts.pop() ?? '';
  if (!key || key === 'none') return null;
  const has = (/** @type {string[]} */ ...names) => names.some((name) => parts.includes(name));
  return { key, mod: has('mod', 'ctrl', 'cmd'), shift: has('shift'), alt: has('alt') };
}

/** @param {Shortcut} given */
export function label(given) {
  const parts = [given.mod && (APPLE ? '⌘' : 'Ctrl'), given.shift && (APPLE ? '⇧' : 'Shift'), given.alt && (APPLE ? '⌥' : 'Alt'), given.key.toUpperCase()];
  return parts.filter(Boolean).join(APPLE ? '' : ' ');
}

/** The same for `aria-keyshortcuts`. @param {Shortcut} given */
export function aria(given) {
  const parts = [given.mod && (APPLE ? 'Meta' : 'Control'), given.shift && 'Shift', given.alt && 'Alt', given.key];
  return parts.filter(Boolean).join('+');
}

/**
 * @param {KeyboardEvent} event
 * @param {Shortcut} given
 */
export function isPressed(event, given) {
  const mod = APPLE ? event.metaKey : event.ctrlKey;
  const other = APPLE ? event.ctrlKey : event.metaKey;
  if (event.isComposing || event.repeat || event.key?.toLowerCase() !== given.key) return false;
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
