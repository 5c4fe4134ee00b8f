/** The dialog: the question, what is shown below it, and the keyboard. */

import { button, h, icon, set } from './dom.js';
import { keepFocusIn, remember } from './focus.js';
import { isUnclear, results, titles } from './results.js';
import { holdPage } from './scrolling.js';
import { IDLE } from './search.js';
import { failure, message, start } from './views.js';

/**
 * @typedef {import('./search.js').State} State
 * @typedef {import('./results.js').Context} Context
 * @typedef {import('./answers.js').Passage} Passage
 * @typedef {object} Actions
 * @property {(text: string) => void} type
 * @property {(text: string) => void} ask
 * @property {() => string[]} earlier
 * @property {() => void} forget
 * @property {() => void} closed
 * @property {(event: KeyboardEvent) => boolean} isShortcut
 */

/**
 * @param {Context & { suggested: string[], maxLength: number }} context
 * @param {Actions} actions
 */
export function panel(context, actions) {
  const { say, prefix } = context;
  /** The index of the active option; -1 for none. */
  let active = -1;
  let isComposing = false;
  /** The kind of state that is shown; `wait` before a first answer. @type {State['kind'] | 'wait' | undefined} */
  let shown;
  /** Where the pointer went down. @type {EventTarget | null} */
  let pressed;
  let stopView = () => {};
  let release = () => {};
  let restore = () => {};

  const isOpen = () => dialog.open;

  /** Opens in the same task as the tap that asked for it: iOS shows its keyboard only then. */
  const open = () => {
    restore = remember();
    dialog.showModal();
    input.focus();
    input.select();
    release = holdPage(dialog);
    if (shown === 'idle') show(IDLE);
  };

  const close = () => {
    if (!isOpen()) return;
    release();
    input.blur(); // A closed dialog keeps the focus until the next frame.
    dialog.close();
    restore();
    actions.closed();
  };

  /** @param {string} text */
  const write = (text) => {
    input.value = text;
    wipe.hidden = !text;
  };

  /** Speaks to a screen reader. @param {string} text */
  const speak = (text) => (status.textContent = text);

  const typed = () => {
    write(input.value);
    choose(-1);
    actions.type(input.value);
  };

  /** @returns {HTMLElement[]} */
  const options = () => /** @type {HTMLElement[]} */ ([...body.querySelectorAll('[role=option]')]);

  /** Makes an option the active one. @param {number} index */
  const choose = (index) => {
    active = index;
    const all = options();
    all.forEach((option, at) => set(option, { 'aria-selected': at === index }));
    set(input, { 'aria-activedescendant': all[index]?.id });
    all[index]?.scrollIntoView({ block: 'nearest' });
  };

  /** @param {KeyboardEvent} event */
  const press = (event) => {
    event.stopPropagation(); // The page's own shortcuts must not react.
    const { key } = event;
    if (key === 'Escape') event.preventDefault();
    if (event.isComposing || event.keyCode === 229 || isComposing) return;
    if (key === 'Escape') close();
    else if (actions.isShortcut(event)) {
      event.preventDefault();
      close();
    } else if (key === 'Tab') keepFocusIn(dialog, event);
    else if (event.composedPath()[0] === input) pressInInput(event);
  };

  /** @param {KeyboardEvent} event */
  const pressInInput = (event) => {
    const { key, ctrlKey, metaKey, shiftKey } = event;
    const all = options();
    const way = /Down$/.test(key) ? 1 : -1;
    if (/^Arrow(Up|Down)$/.test(key) && !event.altKey) {
      const places = all.length + 1; // one of them is the input itself
      choose(((active + 1 + way + places) % places) - 1);
    } else if (/^Page/.test(key)) body.scrollBy({ top: way * body.clientHeight * 0.9 });
    else if (key === 'Enter') {
      const click = new MouseEvent('click', { bubbles: true, cancelable: true, composed: true, ctrlKey, metaKey, shiftKey });
      if (all[active]) all[active].dispatchEvent(click);
      else actions.ask(input.value);
    } else return;
    event.preventDefault();
  };

  /**
   * @param {State} state
   * @returns {HTMLElement}
   */
  const view = (state) => {
    switch (state.kind) {
      case 'found': {
        const n = state.passages.length;
        const unclear = n && isUnclear(state.passages) ? `${say('unclear')} ` : '';
        speak(n ? unclear + say('count', { n }) : say('none'));
        return n ? results(state.question, state.passages, context) : message('search', say('none'), say('noneMore'));
      }
      case 'long': {
        const sentence = say('long', { n: state.length, max: context.maxLength });
        if (shown !== 'long') speak(sentence);
        return message('close', sentence, '');
      }
      case 'fault': {
        const { fault } = state;
        speak(fault.seconds ? `${say(fault.kind)} ${say('wait', { n: fault.seconds })}` : say(fault.kind));
        const failed = failure(fault, say, () => actions.ask(input.value), () => {
          if (isOpen() && input.value.trim() !== state.question) actions.type(input.value);
        });
        stopView = failed.stop;
        return failed.view;
      }
      default:
        speak('');
        return start({
          ...context,
          earlier: isOpen() ? actions.earlier() : [],
          pick: (question) => {
            write(question);
            input.focus();
            actions.ask(question);
          },
          forget: () => {
            actions.forget();
            show(IDLE);
            input.focus();
          },
        });
    }
  };

  /** @param {State} state */
  const show = (state) => {
    const isWaiting = /loading|slow/.test(state.kind);
    set(box, { 'aria-busy': isWaiting });
    note.textContent = say(state.kind === 'slow' ? 'slow' : isWaiting ? 'searching' : 'source');
    // Passages stay, in softer colours, until the answer comes.
    if (isWaiting && /found|wait/.test(shown ?? '')) return void speak('');
    stopView();
    stopView = () => {};
    put(main, isWaiting ? h('div', { class: 'wait' }, h('i'), h('i'), h('i')) : view(state));
    shown = isWaiting ? 'wait' : state.kind;
    body.scrollTop = 0;
  };

  /** Puts a view into a place. A choice that is still there stays. @param {HTMLElement} place @param {HTMLElement} [next] */
  const put = (place, next) => {
    const chosen = options()[active];
    // A focused button that goes away would leave the focus on nothing.
    const isLost = place.contains(/** @type {ShadowRoot} */ (body.getRootNode()).activeElement ?? null);
    place.replaceChildren(...(next ? [next] : []));
    if (isLost) input.focus();
    choose(options().findIndex((each) => each === chosen || (chosen?.title && each.title === chosen.title)));
    const lists = [...body.querySelectorAll('[role=listbox]')].map(({ id }) => id).join(' ');
    set(input, { 'aria-expanded': !!lists, 'aria-controls': lists || null });
  };

  /** Shows pages and sections above the passages. @param {Passage[]} found */
  const offer = (found) => put(top, found.length ? titles(found, context) : undefined);

  /**
   * @param {string} name of its words
   * @param {string} className
   * @param {() => void} click
   */
  const iconButton = (name, className, click) => button({ class: className, 'aria-label': say(name), title: say(name), click }, icon('close'));

  const input = /** @type {HTMLInputElement} */ (
    h('input', {
      role: 'combobox', class: 'input', 'aria-label': say('title'), 'aria-autocomplete': 'list',
      placeholder: say('placeholder'), dir: 'auto', enterkeyhint: 'search',
      autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false',
      input: (/** @type {InputEvent} */ event) => !event.isComposing && typed(),
      compositionstart: () => (isComposing = true),
      compositionend: () => {
        isComposing = false;
        typed();
      },
    })
  );
  const wipe = iconButton('clear', 'icon clear', () => {
    input.value = '';
    input.focus();
    typed();
  });
  const status = h('p', { role: 'status', class: 'heard' });
  const top = h('div');
  const main = h('div');
  const body = h('div', { class: 'body' }, top, main);
  const note = h('span');
  const box = h(
    'div',
    { class: 'panel' },
    h('h2', { class: 'heard', id: `${prefix}title` }, say('title')),
    h('div', { class: 'head' }, icon('search'), input, wipe, iconButton('close', 'icon', close)),
    h('div', { class: 'bar' }),
    status,
    body,
    h(
      'div',
      { class: 'foot' },
      note,
      h('span', { class: 'keys', 'aria-hidden': true }, ...[['↑ ↓', 'choose'], ['↵', 'open'], ['Esc', 'close']].map(([key, name]) => h('span', {}, h('kbd', {}, key), say(name)))),
    ),
  );
  const stop = (/** @type {Event} */ event) => event.stopPropagation();
  const dialog = /** @type {HTMLDialogElement} */ (
    h('dialog', {
      class: 'dialog', 'aria-labelledby': `${prefix}title`, keydown: press, keyup: stop, keypress: stop, close: stop,
      pointerdown: (/** @type {Event} */ event) => (pressed = event.target),
      click: (/** @type {Event} */ event) => event.target === dialog && pressed === dialog && close(),
      cancel: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (!isComposing) close();
      },
    }, box)
  );
  write('');
  show(IDLE);

  return {
    dialog,
    input,
    isOpen,
    open,
    close,
    write,
    speak,
    show,
    offer,
    /** Gives the focus back to where it was before the dialog. */
    restore: () => restore(),
    /** Takes the thumbs away. */
    hideThumbs() {
      context.thumbs = false;
      for (const each of body.querySelectorAll('.thumb')) each.remove();
    },
  };
}
