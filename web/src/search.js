/** Decides when a question is sent, keeps answers, and lets only the newest question speak. */

import { ask, Fault } from './api.js';

/**
 * @typedef {import('./api.js').Options} Options
 * @typedef {import('./answers.js').Passage} Passage
 * @typedef {{ kind: 'idle' }
 *   | { kind: 'loading', question: string }
 *   | { kind: 'slow', question: string }
 *   | { kind: 'found', question: string, passages: Passage[] }
 *   | { kind: 'none', question: string }
 *   | { kind: 'long', question: string, length: number }
 *   | { kind: 'fault', question: string, fault: Fault }} State
 */

const PAUSE = 350;
const SLOW = 4000;
const KEPT = 50;
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

export class Search {
  /** @type {Map<string, Passage[]>} */
  #answers = new Map();
  /** @type {AbortController | null} */
  #running = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #pause;
  #allowedAt = 0;
  /** @type {State} */
  state = { kind: 'idle' };

  /**
   * @param {Options} options
   * @param {(state: State) => void} show called with every new state
   */
  constructor(options, show) {
    this.options = options;
    this.show = show;
  }

  /** The reader typed: ask after a pause. @param {string} text */
  type(text) {
    clearTimeout(this.#pause);
    const question = text.trim().replace(/\s+/g, ' ');
    if (question.length > this.options.maxLength || question.length < shortest(question)) return this.ask(text);
    if (this.options.typing && !this.#isShown(question)) this.#pause = setTimeout(() => this.ask(text), PAUSE);
  }

  /** Ask now. @param {string} text */
  ask(text) {
    clearTimeout(this.#pause);
    const question = text.trim().replace(/\s+/g, ' ');
    if (this.#isShown(question)) return;
    this.#running?.abort();
    this.#running = null;
    if (question.length > this.options.maxLength) return this.#set({ kind: 'long', question, length: question.length });
    if (question.length < shortest(question)) return this.#set({ kind: 'idle' });
    const known = this.#answers.get(question);
    if (known) return this.#settle(question, known);
    const wait = Math.ceil((this.#allowedAt - Date.now()) / 1000);
    if (wait > 0) return this.#set({ kind: 'fault', question, fault: new Fault('limited', { seconds: wait }) });
    void this.#send(question);
  }

  /** Forget the question that runs or waits. An answer that is shown stays. */
  stop() {
    clearTimeout(this.#pause);
    this.#running?.abort();
    this.#running = null;
    if (this.state.kind === 'loading' || this.state.kind === 'slow') this.#set({ kind: 'idle' });
  }

  /** @param {string} question */
  async #send(question) {
    const running = new AbortController();
    this.#running = running;
    this.#set({ kind: 'loading', question });
    const slow = setTimeout(() => running === this.#running && this.#set({ kind: 'slow', question }), SLOW);
    const answer = await ask(this.options, question, running.signal).catch((error) => error);
    clearTimeout(slow);
    if (running !== this.#running) return; // A newer question runs, or none is wanted.
    this.#running = null;
    if (answer instanceof Error) {
      const fault = answer instanceof Fault ? answer : new Fault('broken');
      if (fault.seconds) this.#allowedAt = Date.now() + fault.seconds * 1000;
      return this.#set({ kind: 'fault', question, fault });
    }
    this.#answers.set(question, answer);
    if (this.#answers.size > KEPT) this.#answers.delete([...this.#answers.keys()][0]);
    this.#settle(question, answer);
  }

  /**
   * @param {string} question
   * @param {Passage[]} found
   */
  #settle(question, found) {
    this.#set(found.length ? { kind: 'found', question, passages: found } : { kind: 'none', question });
  }

  /** Whether this question's answer is shown or on its way. @param {string} question */
  #isShown(question) {
    return ['found', 'none', 'loading', 'slow'].includes(this.state.kind) && 'question' in this.state && this.state.question === question;
  }

  /** @param {State} state */
  #set(state) {
    this.state = state;
    this.show(state);
  }
}

/** The fewest characters worth asking: a word in Chinese, Japanese or Korean may have two. @param {string} question */
function shortest(question) {
  return UNSPACED.test(question) ? 2 : 3;
}
