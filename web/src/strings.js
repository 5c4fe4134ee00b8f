/** The widget's words: English, a language loaded beside it, and the page's own; and how a number is put in. */

/** A count's forms are `count.one`, `count.other` and so on. @type {Record<string, string>} */
const ENGLISH = {
  ask: 'Ask', title: 'Ask this site', placeholder: 'Ask a question', close: 'Close', clear: 'Clear the question',
  suggested: 'You could ask', earlier: 'Asked earlier', forget: 'Forget these questions',
  begin: 'Ask in your own words. The answer is what this site says, with a link to the place.',
  titles: 'Pages and sections', passages: 'Passages', 'count.one': '{n} passage', 'count.other': '{n} passages',
  none: 'Nothing on this site fits this question.', noneMore: 'Try other words, or a longer question.',
  searching: 'Searching…', slow: 'Still searching. This takes longer than usual.',
  offline: 'You are offline.', unreachable: 'The search cannot be reached.', limited: 'Too many questions at once.',
  busy: 'The search is not available at the moment.', timeout: 'The search took too long.',
  broken: 'The search sent an answer that cannot be read.', refused: 'The search did not accept this question.',
  setup: 'The search is not set up correctly.', long: 'This question is too long: {n} of {max} characters.',
  kept: 'Your question is still here.', wait: 'You can try again in {n} s.', retry: 'Try again',
  whole: 'Whole passage', less: 'Less', copy: 'Copy', copyCode: 'Copy code', copied: 'Copied', helpful: 'Helpful', unhelpful: 'Not helpful',
  strong: 'Strong match', good: 'Good match', weak: 'Loosely related', unclear: 'No clear answer. The nearest passages:',
  choose: 'choose', open: 'open', source: 'Passages of this site, word for word',
};

const RIGHT_TO_LEFT = /^(ar|dv|fa|he|ps|sd|ug|ur|yi)$/;

/** @typedef {(key: string, values?: Record<string, string | number>) => string} Say */

/**
 * @param {string} wanted a language tag, such as `de-AT`
 * @param {string | null} own a JSON object of the page's own words, which come first
 * @returns {{ language: string, direction: 'ltr' | 'rtl', say: Say }}
 */
export function words(wanted, own) {
  const tag = wanted.toLowerCase().split(/[-_]/)[0];
  const loaded = /** @type {any} */ (globalThis).passageChatWords?.[tag];
  const language = loaded || own ? tag : 'en';
  /** @type {Record<string, string>} */
  const strings = { ...ENGLISH, ...loaded, ...read(own) };
  return {
    language,
    direction: RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr',
    say(key, values = {}) {
      const form = 'n' in values ? new Intl.PluralRules(language).select(Number(values.n)) : '';
      const text = strings[`${key}.${form}`] ?? strings[`${key}.other`] ?? strings[key];
      return text.replace(/\{(\w+)\}/g, (_, name) => values[name].toLocaleString(language));
    },
  };
}

/** @param {string | null} own */
function read(own) {
  try {
    return own ? JSON.parse(own) : {};
  } catch {
    console.error('passage-chat: strings is not a JSON object.');
    return {};
  }
}
