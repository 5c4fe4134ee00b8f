/** Reads the widget's options: from a script tag's `data-` attributes or its URL, then from the element's attributes. */

/** Attributes of `<passage-chat>`; on the script tag, each begins with `data-`. */
export const NAMES = [
  'endpoint', 'profile', 'key', 'count', 'shortcut', 'theme', 'language', 'strings', 'questions', 'position',
  'button', 'open-with', 'max-length', 'ask-on', 'feedback', 'timeout', 'only-language', 'version', 'within', 'history',
];

/**
 * @typedef {object} Options
 * @property {string} endpoint the API's address, without a slash at its end
 * @property {string} profile empty for the API's default
 * @property {string} key empty for none
 * @property {number | null} count how many passages to ask for; null for the profile's default
 * @property {string} language that passages must have; empty for any
 * @property {string} version that passages must have; empty for any
 * @property {string} within the URL that passages' URLs begin with; empty for any
 * @property {string[]} questions suggested questions
 * @property {number} maxLength of a question, in characters
 * @property {boolean} typing whether a pause in typing asks, or only Enter
 * @property {boolean} feedback whether thumbs are shown
 * @property {number} timeout in milliseconds
 */

/**
 * The options that a script tag gives, by attribute name. The URL's query serves generators that allow no attributes.
 * @param {HTMLScriptElement | null} script
 * @returns {Record<string, string | null>} null for an option that is not given
 */
export function ofScript(script) {
  const query = new URL(script?.src || 'about:blank').searchParams;
  return Object.fromEntries(NAMES.map((name) => [name, script?.getAttribute(`data-${name}`) ?? query.get(name)]));
}

/**
 * @param {HTMLElement} element
 * @returns {Options}
 */
export function ofElement(element) {
  const text = (/** @type {string} */ name) => element.getAttribute(name)?.trim() ?? '';
  const number = (/** @type {string} */ name) => Number(text(name)) || null;
  return {
    endpoint: text('endpoint').replace(/\/+$/, '').replace(/^(https?:)\/(?!\/)/, '$1//'), // MkDocs drops a slash.
    profile: text('profile'),
    key: text('key'),
    count: number('count'),
    language: text('only-language').replace(/^page$/, document.documentElement.lang),
    version: text('version'),
    within: text('within') && new URL(text('within'), document.baseURI).href,
    questions: text('questions').split('|').map((each) => each.trim()).filter(Boolean),
    maxLength: number('max-length') ?? 1000,
    typing: text('ask-on') !== 'enter',
    feedback: text('feedback') !== 'off',
    timeout: (number('timeout') ?? 20) * 1000,
  };
}
