/** The dialog: the question, what is shown below it, and the keyboard. */

import { button, h, icon, set } from './dom.js';
import { keepFocusIn, remember } from './focus.js';
import { results } from './results.js';
import { holdPage } from './scrolling.js';
import { failure, message, start, waiting } from './views.js';

/**
 * @typedef {import('./search.js').State} State
 * @typedef {import('./results.js').Context} Context
 * @typedef {object} Actions
 * @property {(text: string) => void} type
 * @property {(text: string, chosen: boolean) => void} ask
 * @property {() => void} retry
 * @property {() => string[]} earlier
 * @property {() => void} forget
 * @property {() => void} closed
 * @property {(event: KeyboardEvent) => boolean} isShortcut
 */

export class Panel {
  #active = -1;
  #stopView = () => {};
  #release = () => {};
  #restore = () => {};
  #isComposing = false;

  /**
   * @param {Context & { suggested: string[], maxLength: number }} context
   * @param {Actions} actions
   */
  constructor(context, actions) {
    const { say, prefix } = context;
    this.context = context;
    this.actions = actions;
    this.input = /** @type {HTMLInputElement} */ (
      h('input', {
        type: 'search', role: 'combobox', 'aria-label': say('title'), 'aria-autocomplete': 'list',
        'aria-expanded': false, 'aria-haspopup': 'listbox', placeholder: say('placeholder'), dir: 'auto',
        enterkeyhint: 'search', autocomplete: 'off', autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false',
        input: (/** @type {InputEvent} */ event) => !event.isComposing && this.#typed(),
        compositionstart: () => (this.#isComposing = true),
        compositionend: () => {
          this.#isComposing = false;
          this.#typed();
        },
      })
    );
    this.clear = button({ class: 'icon clear', hidden: true, 'aria-label': say('clear'), title: say('clear'), click: () => this.#clear() }, icon('close'));
    this.status = h('p', { role: 'status', class: 'heard' });
    this.body = h('div', { class: 'body' });
    this.note = h('span', {}, say('source'));
    this.box = h(
      'div',
      { class: 'panel' },
      h('h2', { class: 'heard', id: `${prefix}title` }, say('title')),
      h(
        'div',
        { class: 'head' },
        icon('search'),
        this.input,
        this.clear,
        button({ class: 'icon', 'aria-label': say('close'), title: say('close'), click: () => this.close() }, icon('close')),
      ),
      h('div', { class: 'bar' }),
      this.status,
      this.body,
      h(
        'div',
        { class: 'foot' },
        this.note,
        h('span', { class: 'keys', 'aria-hidden': true }, h('span', {}, h('kbd', {}, '↑ ↓'), say('choose')), h('span', {}, h('kbd', {}, '↵'), say('open')), h('span', {}, h('kbd', {}, 'Esc'), say('close'))),
      ),
    );
    this.dialog = /** @type {HTMLDialogElement} */ (
      h('dialog', {
        'aria-labelledby': `${prefix}title`,
        keydown: (/** @type {KeyboardEvent} */ event) => this.#press(event),
        keyup: (/** @type {Event} */ event) => event.stopPropagation(),
        keypress: (/** @type {Event} */ event) => event.stopPropagation(),
        pointerdown: (/** @type {Event} */ event) => (this.pressed = event.target),
        click: (/** @type {Event} */ event) => event.target === this.dialog && this.pressed === this.dialog && this.close(),
        cancel: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (!this.#isComposing) this.close();
        },
        close: (/** @type {Event} */ event) => event.stopPropagation(),
      }, this.box)
    );
    this.show({ kind: 'idle' });
  }

  /** Opens in the same task as the tap that asked for it: iOS shows its keyboard only then. */
  open() {
    if (this.dialog.open) return;
    this.#restore = remember();
    this.dialog.showModal();
    this.input.focus();
    this.input.select();
    this.#release = holdPage(this.dialog);
    if (this.shown === 'idle') this.show({ kind: 'idle' });
  }

  close() {
    if (!this.dialog.open) return;
    this.#release();
    this.dialog.close();
    this.#restore();
    this.actions.closed();
  }

  /** @param {string} text */
  write(text) {
    this.input.value = text;
    this.clear.hidden = !text;
  }

  /** Takes the thumbs away. */
  hideThumbs() {
    this.context.thumbs = false;
    for (const each of this.body.querySelectorAll('.thumb')) each.remove();
  }

  /** Speaks to a screen reader. @param {string} text */
  speak(text) {
    this.status.textContent = text;
  }

  /** @param {State} state */
  show(state) {
    const { say } = this.context;
    const isWaiting = state.kind === 'loading' || state.kind === 'slow';
    set(this.box, { 'aria-busy': isWaiting });
    this.note.textContent = say(state.kind === 'slow' ? 'slow' : isWaiting ? 'searching' : 'source');
    if (isWaiting) {
      this.speak('');
      this.#choose(-1);
      if (this.shown === 'found' || this.shown === 'waiting') return this.body.firstElementChild?.classList.add('stale');
    }
    this.#stopView();
    this.#stopView = () => {};
    const view = this.#view(state);
    // A focused button that goes away would leave the focus on nothing.
    const lost = this.body.contains(/** @type {ShadowRoot} */ (this.body.getRootNode()).activeElement ?? null);
    this.body.replaceChildren(view);
    this.body.scrollTop = 0;
    this.shown = isWaiting ? 'waiting' : state.kind;
    if (lost) this.input.focus();
    this.#choose(-1);
    const list = this.body.querySelector('[role=listbox]');
    set(this.input, { 'aria-expanded': !!list, 'aria-controls': list?.id });
  }

  /**
   * @param {State} state
   * @returns {HTMLElement}
   */
  #view(state) {
    const { say } = this.context;
    switch (state.kind) {
      case 'found':
        this.speak(say('count', { n: state.passages.length }));
        return results(state.question, state.passages, this.context);
      case 'none':
        this.speak(say('none'));
        return message('search', say('none'), say('noneMore'));
      case 'long': {
        const sentence = say('long', { n: state.length, max: this.context.maxLength });
        if (this.shown !== 'long') this.speak(sentence);
        return message('close', sentence, '');
      }
      case 'fault': {
        const { fault } = state;
        this.speak(fault.seconds ? `${say(fault.kind)} ${say('wait', { n: fault.seconds })}` : say(fault.kind));
        const { view, stop } = failure(fault, say, this.actions.retry, () => {
          if (this.input.value.trim() !== state.question) this.actions.type(this.input.value);
        });
        this.#stopView = stop;
        return view;
      }
      case 'idle': {
        this.speak('');
        return start({
          ...this.context,
          earlier: this.dialog?.open ? this.actions.earlier() : [],
          pick: (question) => {
            this.write(question);
            this.input.focus();
            this.actions.ask(question, true);
          },
          forget: () => {
            this.actions.forget();
            this.show({ kind: 'idle' });
            this.input.focus();
          },
        });
      }
      default:
        return waiting();
    }
  }

  #typed() {
    this.clear.hidden = !this.input.value;
    this.#choose(-1);
    this.actions.type(this.input.value);
  }

  #clear() {
    this.write('');
    this.input.focus();
    this.#typed();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    event.stopPropagation(); // The page's own keys are not meant.
    const isComposing = event.isComposing || event.keyCode === 229 || this.#isComposing;
    if (event.key === 'Escape') event.preventDefault();
    if (isComposing) return;
    if (event.key === 'Escape') this.close();
    else if (this.actions.isShortcut(event)) {
      event.preventDefault();
      this.close();
    } else if (event.key === 'Tab') keepFocusIn(this.dialog, event);
    else if (event.composedPath()[0] === this.input) this.#pressInput(event);
  }

  /** @param {KeyboardEvent} event */
  #pressInput(event) {
    const options = this.#options();
    const page = { PageDown: 1, PageUp: -1 }[event.key];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !event.altKey) {
      event.preventDefault();
      const places = options.length + 1; // one of them is the input itself
      this.#choose(((this.#active + 1 + step + places) % places) - 1);
    } else if (page) {
      event.preventDefault();
      this.body.scrollBy({ top: page * this.body.clientHeight * 0.9 });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const { ctrlKey, metaKey, shiftKey } = event;
      const chosen = options[this.#active];
      if (chosen) chosen.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, composed: true, ctrlKey, metaKey, shiftKey }));
      else this.actions.ask(this.input.value, true);
    }
  }

  /** @returns {HTMLElement[]} */
  #options() {
    return [...this.body.querySelectorAll('[role=option]')].map((each) => /** @type {HTMLElement} */ (each));
  }

  /** Marks an option as the active one; -1 for none. @param {number} index */
  #choose(index) {
    this.#active = index;
    const options = this.#options();
    const tools = this.body.querySelectorAll('.more');
    options.forEach((option, at) => {
      set(option, { 'aria-selected': at === index });
      tools[at]?.classList.toggle('chosen', at === index);
    });
    set(this.input, { 'aria-activedescendant': options[index]?.id });
    options[index]?.scrollIntoView({ block: 'nearest' });
  }
}
