/** What the dialog shows when there are no passages: the start, nothing found, and each failure. */

import { button, h, icon, set } from './dom.js';

/** @typedef {import('./strings.js').Say} Say */

/**
 * Suggested and earlier questions, as options of a listbox.
 * @param {{ prefix: string, say: Say, suggested: string[], earlier: string[],
 *   pick: (question: string) => void, forget: () => void }} context
 * @returns {HTMLElement}
 */
export function start({ prefix, say, suggested, earlier, pick, forget }) {
  /** @param {'suggested' | 'earlier'} name @param {string[]} questions */
  const group = (name, questions) =>
    questions.length > 0 &&
    h(
      'div',
      { role: 'group', 'aria-labelledby': `${prefix}${name}` },
      h('div', { class: 'label', id: `${prefix}${name}` }, say(name)),
      ...questions.map((question, index) =>
        h(
          'div',
          {
            role: 'option',
            class: 'question',
            id: `${prefix}${name}-${index}`,
            click: () => pick(question),
          },
          icon(name === 'earlier' ? 'again' : 'search'),
          h('span', { dir: 'auto' }, question),
        ),
      ),
    );
  const groups = [group('suggested', suggested), group('earlier', earlier)].filter(Boolean);
  return h(
    'div',
    {},
    h('p', { class: 'lead' }, say('begin')),
    groups.length > 0 && h('div', { role: 'listbox', id: `${prefix}list`, 'aria-label': say('title') }, ...groups),
    earlier.length > 0 && button({ class: 'plain', click: forget }, say('forget')),
  );
}

/**
 * A sentence, and what to do about it.
 * @param {string} name of the icon
 * @param {string} sentence
 * @param {string} more
 * @param {HTMLElement | null} [again]
 */
export function message(name, sentence, more, again = null) {
  return h(
    'div',
    { class: 'state' },
    icon(name),
    h('p', { class: 'first' }, sentence),
    h('p', { class: 'then', dir: 'auto' }, more),
    again,
  );
}

/**
 * A failure: one sentence, and a button that asks again once the time to wait is over.
 * @param {import('./api.js').Fault} fault
 * @param {Say} say
 * @param {() => void} retry
 * @param {() => void} waited called when the time is over
 * @returns {{ view: HTMLElement, stop: () => void }}
 */
export function failure(fault, say, retry, waited) {
  const until = Date.now() + fault.seconds * 1000;
  const left = () => Math.ceil((until - Date.now()) / 1000);
  const again = button({ class: 'primary', click: () => left() > 0 || retry() }, say('retry'));
  const view = message('again', say(fault.kind), fault.kind === 'refused' && fault.said ? fault.said : say('kept'), again);
  const then = /** @type {HTMLElement} */ (view.querySelector('.then'));
  if (!fault.seconds) return { view, stop: () => {} };
  const tick = () => {
    const seconds = left();
    set(again, { 'aria-disabled': seconds > 0 });
    then.textContent = seconds > 0 ? say('wait', { n: seconds }) : say('kept');
    if (seconds > 0) return;
    clearInterval(timer);
    waited();
  };
  const timer = setInterval(tick, 500);
  tick();
  return { view, stop: () => clearInterval(timer) };
}
