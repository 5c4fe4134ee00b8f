/** The questions of this session, newest first. Nothing is read or written before a reader asks or opens the dialog. */

const MOST = 8;

/**
 * @param {string} name tells apart the widgets of a site
 */
export function session(name) {
  const key = `passage-chat:${name}`;
  /** @type {string[] | undefined} */
  let known;

  /** @returns {string[]} */
  const questions = () => (known ??= read(key));

  /** @param {string[]} now */
  const keep = (now) => {
    known = now;
    try {
      sessionStorage.setItem(key, JSON.stringify(now));
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

/**
 * @param {string} key
 * @returns {string[]}
 */
function read(key) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? '[]');
    return kept.filter((/** @type {unknown} */ each) => typeof each === 'string').slice(0, MOST);
  } catch {
    return []; // Storage is forbidden, or another script wrote there.
  }
}
