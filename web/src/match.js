/** Finds what of a passage answers the question: the best sentence, and the words of the question in it. */

const STOP = new Set(
  'the and for are was you can how who why what when where which does this that with from have'.split(' '),
);
const EDGES = /^[^\p{L}\p{N}_$@+#-]+|[^\p{L}\p{N}_$@+#-]+$/gu;
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff]/;
const SNIPPET = 260;

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
 * @returns {RegExp | null}
 */
function pattern(words) {
  const parts = words.map((word) => {
    const stem = word.length > 4 ? word.replace(/(ing|ies|ed|es|s|e)$/, '') : word;
    const literal = stem.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    return UNSPACED.test(word) ? literal : `(?<![\\p{L}\\p{N}])${literal}(\\p{L}{0,4}(?!\\p{L}))?`;
  });
  return parts.length ? new RegExp(parts.join('|'), 'giu') : null;
}

/**
 * The places of the question's words in a text, as [start, end).
 * @param {string} text
 * @param {string[]} words
 * @returns {[number, number][]}
 */
export function places(text, words) {
  const finder = pattern(words);
  return finder ? [...text.matchAll(finder)].map((found) => [found.index, found.index + found[0].length]) : [];
}

/**
 * The part of a passage that says most about the question. Prose is shown rather than a table or code, unless only
 * these have the question's words.
 * @param {ReturnType<typeof import('./markdown.js').plain>} parts
 * @param {string[]} words
 * @returns {{ text: string, isCode?: boolean, sentence: string }} what to show, and its first sentence, row or line, as the page has it
 */
export function snippet({ prose, other }, words) {
  const [told, shown] = [prose, other].map((parts) => best(parts, words));
  const answers = shown.score >= 1 || (shown.score > 0 && !prose.length);
  return told.score < 1 && answers ? shown : told;
}

/**
 * The best part, and as many of those after it as there is room for. A row of a table says all by itself.
 * @param {import('./markdown.js').Part[]} parts
 * @param {string[]} words
 */
function best(parts, words) {
  const scores = parts.map(({ shown }) => {
    const found = places(shown, words).map(([from]) => shown.slice(from, from + 4).toLowerCase());
    return new Set(found).size + (shown.length > 30 ? 0.5 : 0);
  });
  const score = Math.max(0, ...scores);
  const at = Math.max(0, scores.indexOf(score));
  const { shown: first, page, isCode } = parts[at] ?? { shown: '' };
  let text = first;
  for (const { shown } of page ? [] : parts.slice(at + 1)) {
    if (text.length + shown.length > SNIPPET) break;
    text += shown;
  }
  const most = SNIPPET * 1.5;
  const shown = text.length > most ? `${text.slice(0, most).trim()}…` : text.trimEnd();
  return { text: `${at && !page && !isCode ? '… ' : ''}${shown}`, isCode, sentence: (page ?? first).trim(), score };
}
