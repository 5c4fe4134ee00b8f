/** Reads the answers of all contracts into one kind of passage. */

import { address, safe } from './urls.js';

/**
 * @typedef {object} Passage
 * @property {string} text Markdown, as stored
 * @property {string | null} url http or https; null if the answer has no such URL
 * @property {string} title of the section, else of the page; the URL where the answer has neither
 * @property {string[]} path the headings above the section, outermost first
 * @property {number} score 0 to 1
 * @property {string | number | null} id the chunk's id, as the answer has it
 * @property {string | null} sent the URL exactly as the answer has it
 */

/** Where the contracts, and payloads of a collection, keep each part. The first non-empty text wins. */
const TEXT = ['chunk_text', 'content', 'text', 'text_content', 'chunk'];
const URL_KEYS = ['url', 'source_url', 'page_url', 'link'];
const PAGE = ['page_title', 'title', 'heading'];
const SCORE = ['relevance_score', 'similarity_score', 'score'];

/**
 * The passages of an answer, best first.
 * @param {any} body
 * @returns {Passage[] | null} null if the body is no answer of a known contract
 */
export function passages(body) {
  const list = body?.results ?? body?.chunks;
  return Array.isArray(list) ? list.map(passage).filter((each) => each.text.trim()) : null;
}

/**
 * @param {any} item
 * @returns {Passage}
 */
function passage(item) {
  const fields = { ...item?.payload, ...item?.metadata, ...item };
  const sent = first(fields, URL_KEYS);
  const url = safe(sent);
  const headings = [first(fields, PAGE), ...list(fields.headings ?? fields.section_headers), fields.section]
    .filter((each) => typeof each === 'string' && each.trim())
    .filter((each, index, all) => each !== all[index - 1]);
  const known = headings.length ? headings : url ? [address(url)] : [];
  const score = SCORE.map((key) => fields[key]).find((each) => typeof each === 'number');
  return {
    text: first(fields, TEXT),
    url,
    title: known[known.length - 1] ?? '',
    path: known.slice(0, -1),
    score: score ?? 0,
    id: item?.chunk_id ?? item?.id ?? null,
    sent: sent || null,
  };
}

/**
 * @param {Record<string, any>} fields
 * @param {string[]} keys
 * @returns {string}
 */
function first(fields, keys) {
  return keys.map((key) => fields[key]).find((each) => typeof each === 'string' && each.trim()) ?? '';
}

/** @param {any} value */
function list(value) {
  return Array.isArray(value) ? value : typeof value === 'string' ? value.split(' > ') : [];
}

/**
 * The message in an error's body, in any contract's form.
 * @param {any} body
 * @returns {string}
 */
export function messageOf(body) {
  const said = [body?.error?.message, body?.error, body?.message].find((each) => typeof each === 'string');
  return said ?? '';
}

/** How well a passage fits, worst first: keys of the strings. */
const FITS = ['loose', 'related', 'good', 'best'];

/**
 * How well each passage fits. Scores of two models or of a reranker are not comparable, so a passage is measured
 * against the best score; only a score under 0.2 means a poor fit with every model. The order may follow more than the
 * score, such as the question's words, so no passage fits worse than one below it.
 * @param {Passage[]} found best first
 * @returns {string[]}
 */
export function fits(found) {
  const top = Math.max(...found.map((each) => each.score));
  let least = 0;
  return found
    .map(({ score }, index) => (score < 0.2 ? 0 : index ? Number(score >= 0.6 * top) + Number(score >= 0.85 * top) : 3))
    .reverse()
    .map((level) => FITS[(least = Math.max(least, level))])
    .reverse();
}
