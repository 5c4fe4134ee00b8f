/** Hands a language's words to the widget, which may be loaded before or after. */

/**
 * @param {string} language
 * @param {Record<string, string>} words
 */
export function add(language, words) {
  const all = /** @type {any} */ (globalThis);
  all.passageChatWords = { ...all.passageChatWords, [language]: words };
}
