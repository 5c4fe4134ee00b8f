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

  /** @returns {string[]} */
  const questions = () => (known ??= read(key, lasts));

  /** @param {string[]} now */
  const keep = (now) => {
    known = now;
    try {
      store(lasts).setItem(key, JSON.stringify(now));
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

/** @param {boolean} lasts */
const store = (lasts) => (lasts ? localStorage : sessionStorage);

/**
 * @param {string} key
 * @param {boolean} lasts
 * @returns {string[]}
 */
function read(key, lasts) {
  try {
    const kept = JSON.parse(store(lasts).getItem(key) ?? '[]');
    return kept.filter((/** @type {unknown} */ each) => typeof each === 'string').slice(0, MOST);
  } catch {
    return []; // Storage is forbidden, or another script wrote there.
  }
}
