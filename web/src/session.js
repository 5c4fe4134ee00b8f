/** The questions of this session or device, newest first. Nothing is read or written before a reader asks or opens the dialog. */

const MOST = 8;

/**
 * @param {string} name tells apart the widgets of a site
 * @param {boolean} lasts whether the questions stay on the device when the session ends
 */
export function session(name, lasts) {
  const key = `passage-chat:${name}`;
  /** @type {string[] | undefined} */
  let known;

  const store = () => (lasts ? localStorage : sessionStorage);

  /** @returns {string[]} */
  const questions = () => {
    try {
      return (known ??= JSON.parse(store().getItem(key) ?? '[]').filter((/** @type {unknown} */ each) => typeof each === 'string').slice(0, MOST));
    } catch {
      return []; // Storage is forbidden, or another script wrote there.
    }
  };

  /** @param {string[]} now */
  const keep = (now) => {
    known = now;
    try {
      store().setItem(key, JSON.stringify(now));
    } catch {
      // Storage is forbidden or full: the questions last as long as the page.
    }
  };

  return {
    questions,
    /** @param {string} question */
    add: (question) => keep([question, ...questions().filter((each) => each !== question)].slice(0, MOST)),
    clear: () => keep([]),
  };
}
