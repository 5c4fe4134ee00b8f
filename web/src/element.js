/** `<passage-chat>`: puts the parts together. It has listeners in the page only while it is connected. */

import { rate } from './api.js';
import { button, h, icon } from './dom.js';
import { NAMES, ofElement } from './options.js';
import { panel as dialogPanel } from './panel.js';
import { searching, tidy } from './search.js';
import { session } from './session.js';
import { isPressed, isTyping, names, shortcuts } from './shortcut.js';
import { words } from './strings.js';
import css from './style.css';
import { follow } from './theme.js';
import { forget, point, visit, watchRoute } from './visit.js';

/** @typedef {import('./answers.js').Passage} Passage */

/** A site may be built in Node, which has no HTMLElement. */
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

/**
 * Widgets in the page with their shortcuts, oldest first: the first one with a shortcut owns it.
 * @type {Map<PassageChat, import('./shortcut.js').Shortcut[]>}
 */
const present = new Map();
let count = 0;
/** @type {CSSStyleSheet | undefined} */
let sheet;

export class PassageChat extends Base {
  static observedAttributes = NAMES;
  static version = VERSION;
  /** The script tag that ran, and the widget that it put into the page. @type {HTMLScriptElement | null} */
  static script = null;
  /** @type {PassageChat | undefined} */
  static own;
  static hasWarned = false;

  /** @type {ReturnType<typeof dialogPanel> | undefined} */
  #panel;
  /** @type {ReturnType<typeof searching> | undefined} */
  #search;
  /** @type {AbortController | undefined} */
  #life;
  #isStale = false;
  #prefix = `passage-${(count += 1)}-`;

  /** What is beside it in the page. @type {ChildNode | null | undefined} */
  #beside;
  #isRemoved = false;

  connectedCallback() {
    this.#isRemoved = false;
    this.#beside = this.previousSibling;
    this.#build();
  }

  disconnectedCallback() {
    this.#takeDown();
    // In a task of its own: a page that removes what it does not know must not wait for itself.
    if (this === PassageChat.own) setTimeout(() => this.#comeBack());
  }

  /** Takes the widget away for good. */
  remove() {
    this.#isRemoved = true;
    super.remove();
  }

  /** Whatever replaced the page's content took the widget along, unless it was removed alone. */
  #comeBack() {
    if (this.isConnected || (this.#isRemoved && this.#beside?.isConnected !== false)) return;
    if (document.body) document.body.append(this);
    else setTimeout(() => this.#comeBack(), 50);
  }

  attributeChangedCallback() {
    if (!this.#life || this.#isStale) return;
    this.#isStale = true;
    queueMicrotask(() => {
      this.#isStale = false;
      if (!this.isConnected) return;
      const text = this.#panel?.input.value ?? '';
      this.#takeDown();
      this.#build();
      this.#panel?.write(text);
    });
  }

  /** Opens the dialog, and asks a question if one is given. @param {string} [question] */
  open(question) {
    const panel = this.#panel;
    if (!panel) return;
    if (!panel.isOpen()) {
      panel.open();
      this.#tell('open');
    }
    if (question) {
      panel.write(question);
      this.#search?.ask(question);
    }
  }

  close() {
    this.#panel?.close();
  }

  /** @returns {boolean} */
  get isOpen() {
    return !!this.#panel?.isOpen();
  }

  #build() {
    const options = ofElement(this);
    const life = new AbortController();
    this.#life = life;
    if (!options.endpoint) {
      console.error('passage-chat: the API address is missing. Set data-endpoint on the script, or endpoint on the element.');
      return;
    }
    const language = this.getAttribute('language') ?? (document.documentElement.lang || 'en');
    const { say, language: spoken, direction } = words(language, this.getAttribute('strings'));
    const asked = session(`${options.endpoint}/${options.profile}`, this.getAttribute('history') === 'on');
    const keys = shortcuts(this.getAttribute('shortcut'));

    /** The question that the reader asked for, not only paused at. */
    let wanted = '';
    const search = searching(options, (state) => {
      if (state.kind === 'found') this.#tell('answer', { question: state.question, count: state.passages.length });
      else if (state.kind === 'fault') this.#tell('fault', { question: state.question, kind: state.fault.kind });
      panel.show(state);
      if (state.question === wanted) keep();
    }, (found) => panel.offer(found));
    const keep = () => {
      const state = search.state();
      if (state.kind === 'found' && state.passages.length) asked.add(state.question);
    };
    const panel = dialogPanel(
      {
        prefix: this.#prefix,
        say,
        suggested: options.questions,
        maxLength: options.maxLength,
        thumbs: options.feedback,
        follow: (event, passage, sentence) => {
          keep();
          this.#follow(event, passage, sentence);
        },
        copy: async (passage, code) => {
          keep();
          await navigator.clipboard.writeText(code ?? [passage.text, passage.url].filter(Boolean).join('\n\n'));
          panel.speak(say('copied'));
          this.#tell('copy', { passage });
        },
        rate: async (passage, helpful) => {
          this.#tell('feedback', { passage, helpful });
          if (!(await rate(options, passage, helpful))) panel.hideThumbs();
        },
      },
      {
        type: (text) => search.type(text),
        ask: (text) => {
          wanted = tidy(text);
          search.ask(text);
          keep();
        },
        earlier: asked.questions,
        forget: asked.clear,
        closed: () => {
          search.stop();
          keep();
          this.#tell('close');
        },
        // A single key is typed.
        isShortcut: (event) => keys.some((each) => each.mod && isPressed(event, each)),
      },
    );
    this.#panel = panel;
    this.#search = search;

    const root = h('div', {
      class: 'root', lang: spoken,
      dir: direction === 'rtl' ? 'rtl' : this.hasAttribute('language') ? 'ltr' : null,
    }, this.getAttribute('button') !== 'none' && launcher(this, say, keys), panel.dialog);
    show(this, root);
    const theme = this.getAttribute('theme') ?? '';
    const { lang } = document.documentElement;
    follow((dark) => {
      root.dataset.theme = /^(light|dark)$/.test(theme) ? theme : dark ? 'dark' : 'light';
      if (document.documentElement.lang !== lang) this.attributeChangedCallback();
    }, life.signal);
    this.#listen(keys, life.signal);
  }

  /**
   * @param {import('./shortcut.js').Shortcut[]} keys
   * @param {AbortSignal} signal
   */
  #listen(keys, signal) {
    present.set(this, keys);
    const press = (/** @type {KeyboardEvent} */ event) => {
      const owner = [...present].find(([, all]) => all.some((each) => isPressed(event, each)));
      if (event.defaultPrevented || owner?.[0] !== this || isTyping(event)) return;
      if (document.querySelector(':modal')) return; // The site's own dialog is open.
      event.preventDefault();
      this.open();
    };
    // Added anew at each key, it comes after the site's own search, which may have taken the key.
    window.addEventListener('keydown', () => window.addEventListener('keydown', press, { once: true, signal }), { capture: true, signal });
    const selector = this.getAttribute('open-with');
    if (selector) {
      document.addEventListener(
        'click',
        (event) => {
          if (!(event.target instanceof Element) || !event.target.closest(selector)) return;
          event.preventDefault();
          this.open();
        },
        { signal },
      );
    }
    watchRoute(() => this.close(), signal);
  }

  #takeDown() {
    present.delete(this);
    this.close();
    this.#search?.stop();
    this.#life?.abort();
    this.#life = undefined;
  }

  /**
   * A plain click goes where the site sends it; any other click is the browser's.
   * @param {MouseEvent} event
   * @param {Passage} passage
   * @param {string} sentence
   */
  #follow(event, passage, sentence) {
    if (!passage.url) return;
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.close();
    forget();
    if (this.#tell('navigate', { url: passage.url, passage }, true)) visit(this, passage.url, sentence);
    else point(passage.url, sentence);
    // Going to a place of the same page takes the focus away.
    setTimeout(() => this.#panel?.restore());
  }

  /**
   * @param {string} name
   * @param {object} [detail]
   * @param {boolean} [cancelable]
   * @returns {boolean} false if a listener took it over
   */
  #tell(name, detail = {}, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(`passage-${name}`, { detail, bubbles: true, composed: true, cancelable }));
  }
}

/**
 * The button in a corner of the page.
 * @param {PassageChat} element
 * @param {import('./strings.js').Say} say
 * @param {import('./shortcut.js').Shortcut[]} keys
 */
function launcher(element, say, keys) {
  const all = keys.map(names);
  return button({ class: 'launcher', 'aria-haspopup': 'dialog', 'data-position': element.getAttribute('position'),
      'aria-keyshortcuts': all.map(([, aria]) => aria).join(' ') || null, click: () => element.open(),
    },
    icon('chat'),
    h('span', {}, say('ask')),
    all[0] && h('kbd', { 'aria-hidden': true }, all[0][0]),
  );
}

/** Puts the root into the element's shadow, with the style sheet. @param {PassageChat} element @param {HTMLElement} root */
function show(element, root) {
  const shadow = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
  }
  shadow.adoptedStyleSheets = [sheet];
  shadow.replaceChildren(root);
}
