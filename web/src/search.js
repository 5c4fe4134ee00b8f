/** Decides when a question is sent, keeps answers, and lets only the newest question speak. */

import { ask, Fault, titled } from './api.js';

/**
 * @typedef {import('./api.js').Options} Options
 * @typedef {import('./answers.js').Passage} Passage
 * @typedef {{ kind: 'idle', question: '' }
 *   | { kind: 'loading', question: string }
 *   | { kind: 'slow', question: string }
 *   | { kind: 'found', question: string, passages: Passage[] }
 *   | { kind: 'long', question: string, length: number }
 *   | { kind: 'fault', question: string, fault: Fault }} State
 */

/** Nothing is asked. @type {State} */
export const IDLE = { kind: 'idle', question: '' };
const PAUSE = 350;
/** Titles cost no embedding: a shorter pause asks for them. */
const GLANCE = 100;
const SLOW = 4000;
const KEPT = 50;
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/**
 * @param {Options} options
 * @param {(state: State) => void} show called with every new state
 * @param {(found: Passage[]) => void} offer called with the pages and sections whose titles begin with what is typed
 */
export function searching(options, show, offer) {
  /** @type {Map<string, Passage[]>} */
  const answers = new Map();
  /** @type {AbortController | null} */
  let running = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let glance;
  /** @type {AbortController | undefined} */
  let looking;
  let hasTitles = options.typing;
  /** The text whose titles are shown. */
  let glanced = '';
  /** When the API takes questions again, in milliseconds. */
  let allowedAt = 0;
  /** @type {State} */
  let state = IDLE;

  /** @param {State} next */
  const set = (next) => {
    state = next;
    show(next);
  };

  const cancel = () => {
    running?.abort();
    running = null;
  };

  /** @param {string} text */
  const look = async (text) => {
    const { signal } = (looking = new AbortController());
    try {
      const found = await titled(options, text, signal);
      if (signal.aborted) return;
      glanced = text;
      offer(found);
    } catch (error) {
      // An API without an index of titles refuses each such question.
      if (error instanceof Fault && /refused|setup/.test(error.kind)) hasTitles = false;
    }
  };

  /** Nothing waits for a pause, and titles that come late would move what is read. */
  const stop = () => {
    clearTimeout(pause);
    clearTimeout(glance);
    looking?.abort();
  };

  /** Whether this question's answer is shown or on its way. @param {string} question */
  const isShown = (question) => /found|loading|slow/.test(state.kind) && state.question === question;

  /** @param {string} question */
  const send = async (question) => {
    const mine = new AbortController();
    running = mine;
    set({ kind: 'loading', question });
    const slow = setTimeout(() => set({ kind: 'slow', question }), SLOW);
    mine.signal.addEventListener('abort', () => clearTimeout(slow));
    const answer = await ask(options, question, mine.signal).catch((error) => error);
    if (mine !== running) return; // A newer question runs, or none is wanted.
    cancel();
    if (answer instanceof Fault) {
      allowedAt = Date.now() + answer.seconds * 1000;
      return set({ kind: 'fault', question, fault: answer });
    }
    answers.set(question, answer);
    if (answers.size > KEPT) answers.delete([...answers.keys()][0]);
    set({ kind: 'found', question, passages: answer });
  };

  return {
    state: () => state,

    /** The reader typed: ask after a pause. @param {string} text */
    type(text) {
      stop();
      const question = tidy(text);
      if (!isAskable(question, options)) this.ask(text);
      else if (options.typing && !isShown(question)) pause = setTimeout(() => this.ask(text), PAUSE);
      if (question.length > 1 && hasTitles && question.length <= options.maxLength) glance = setTimeout(() => look(question), GLANCE);
    },

    /** Ask now. @param {string} text */
    ask(text) {
      stop();
      const question = tidy(text);
      if (glanced !== question) offer([]);
      if (isShown(question)) return;
      cancel();
      const { length } = question;
      if (length > options.maxLength) return set({ kind: 'long', question, length });
      if (!isAskable(question, options)) return set(IDLE);
      const passages = answers.get(question);
      if (passages) return set({ kind: 'found', question, passages });
      const seconds = Math.ceil((allowedAt - Date.now()) / 1000);
      if (seconds > 0) return set({ kind: 'fault', question, fault: new Fault('limited', seconds) });
      void send(question);
    },

    /** Forget the question that runs or waits. An answer that is shown stays. */
    stop() {
      stop();
      cancel();
      if (/loading|slow/.test(state.kind)) set(IDLE);
    },
  };
}

/** A question without white space around it or in rows. @param {string} text */
export function tidy(text) {
  return text.trim().replace(/\s+/g, ' ');
}

/**
 * Whether a question is long and short enough. A word in Chinese, Japanese or Korean may have two characters.
 * @param {string} question
 * @param {Options} options
 */
function isAskable(question, options) {
  return question.length >= (UNSPACED.test(question) ? 2 : 3) && question.length <= options.maxLength;
}
