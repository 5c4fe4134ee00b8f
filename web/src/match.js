/** Finds what of a passage answers the question: the best sentence, and the words of the question in it. */

const STOP = new Set(
  'the and for are was you can how who why what when where which does this that with from have'.split(' '),
);
const EDGES = /^[^\p{L}\p{N}_$@+#-]+|[^\p{L}\p{N}_$@+#-]+$/gu;
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff]/;
const SNIPPET = 260;
/** Prose of fewer characters only introduces the code below it. */
const SHORT = 80;

/**
 * The question's telling words, lower case. Chinese and Japanese have no spaces: pairs of characters stand for words.
 * @param {string} question
 * @returns {string[]}
 */
export function terms(question) {
  const words = question.toLowerCase().split(/\s+/).map((word) => word.replace(EDGES, ''));
  const telling = words.flatMap((word) => {
    if (UNSPACED.test(word)) return [...word].slice(1).map((sign, index) => [...word][index] + sign);
    return word.length > 2 && !STOP.has(word) ? [word] : [];
  });
  return [...new Set(telling.length ? telling : words.filter(Boolean))];
}

/**
 * Finds a term's inflections, too: `twin` finds `twins`, `calibrating` finds `calibrated`.
 * @param {string[]} words
 * @returns {RegExp}
 */
function pattern(words) {
  const parts = words.map((word) => {
    const stem = word.length > 4 ? word.replace(/(ing|ies|ed|es|s|e)$/, '') : word;
    const literal = stem.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    return UNSPACED.test(word) ? literal : `(?<![\\p{L}\\p{N}])${literal}(\\p{L}{0,4}(?!\\p{L}))?`;
  });
  return new RegExp(parts.join('|') || '(?!)', 'giu');
}

/**
 * The places of the question's words in a text, as [start, end).
 * @param {string} text
 * @param {string[]} words
 * @returns {[number, number][]}
 */
export function places(text, words) {
  return [...text.matchAll(pattern(words))].map((found) => [found.index, found.index + found[0].length]);
}

/** @typedef {import('./markdown.js').Part} Part */

/**
 * The part of a passage that says most about the question. Prose is shown rather than a table or code, unless only
 * these have the question's words. Code is also shown if it has more of them, or directly follows a short sentence.
 * @param {Part[]} parts
 * @param {string[]} words
 * @returns {{ text: string, lines: string, code?: string, sentence: string }} prose or a row, and lines of code, to
 *   show; the whole block of code; and the first sentence, row or line, as the page has it
 */
export function snippet(parts, words) {
  const found = parts.map(({ shown, label }) => {
    const text = `${label} ${shown}`;
    return new Set(places(text, words).map(([from]) => text.slice(from, from + 4).toLowerCase())).size;
  });
  const scores = parts.map(({ shown }, at) => found[at] + (shown.length > 30 ? 0.5 : 0));
  const isProse = (/** @type {Part} */ part) => (part.page ?? part.code) === undefined;
  /** The first of the best of its kind; -1 for none. */
  const best = (prose = true) =>
    parts.reduce((most, part, at) => (isProse(part) === prose && !(scores[at] <= scores[most]) ? at : most), -1);
  const [told, other] = [best(), best(false)];
  const isOther = told < 0 || (scores[told] < 1 ? scores[other] >= 1 : parts[other]?.code && found[other] > found[told]);
  const at = isOther ? other : told;
  const { shown: first, page, code } = parts[at];
  const next = code ? at : isProse(parts[at]) && first.length < SHORT && parts[at + 1]?.code ? at + 1 : -1;
  const text = code ? '' : next < 0 && !page ? extent(parts, at) : first.trim();
  return {
    text: text && at && !page ? `… ${text}` : text,
    lines: next < 0 ? '' : extent(parts, next),
    code: parts[next]?.code,
    sentence: (page ?? first).trim(),
  };
}

/** A part with as many of its kind after it, below the same label, as there is room for. @param {Part[]} parts @param {number} at */
function extent(parts, at) {
  const { shown, code, label } = parts[at];
  let text = shown;
  for (const part of parts.slice(at + 1).filter((each) => each.code === code && !each.page)) {
    if (part.label !== label || text.length + part.shown.length > SNIPPET) break;
    text += part.shown;
  }
  const most = SNIPPET * 1.5;
  return text.length > most ? `${text.slice(0, most).trim()}…` : text.trimEnd();
}
