/** The questions of this session, newest first. Nothing is read or written before a reader asks or opens the dialog. */

const MOST = 8;

export class Session {
  /** @type {string[] | null} */
  #questions = null;

  /** @param {string} name tells apart the widgets of a site */
  constructor(name) {
    this.key = `passage-chat:${name}`;
  }

  /** @returns {string[]} */
  get questions() {
    return (this.#questions ??= this.#read());
  }

  /** @param {string} question */
  add(question) {
    this.#questions = [question, ...this.questions.filter((each) => each !== question)].slice(0, MOST);
    this.#store(() => sessionStorage.setItem(this.key, JSON.stringify(this.#questions)));
  }

  clear() {
    this.#questions = [];
    this.#store(() => sessionStorage.removeItem(this.key));
  }

  /** @returns {string[]} */
  #read() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.key) ?? '[]');
      return kept.filter((/** @type {unknown} */ each) => typeof each === 'string').slice(0, MOST);
    } catch {
      return []; // Storage is forbidden, or another script wrote there.
    }
  }

  /** @param {() => void} write */
  #store(write) {
    try {
      write();
    } catch {
      // Storage is forbidden or full: the questions last as long as the page.
    }
  }
}
