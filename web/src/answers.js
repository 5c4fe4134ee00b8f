/** Reads the answers of all contracts into one kind of passage. */

import { address, safe } from './urls.js';

/**
 * @typedef {object} Passage
 * @property {string} text Markdown, as stored
 * @property {string | null} url http or https; null if the answer has no such URL
 * @property {string} title of the section, else of the page; the URL where the answer has neither
 * @property {string[]} path the headings above the section, outermost first
 * @property {string} fit how well it fits: strong, good, weak or none; empty if the API does not know it
 * @property {string} [id] the chunk's id
 * @property {string} [sent] the URL exactly as the answer has it
 */

/** Where the contracts, and payloads of a collection, keep each part. The first non-empty text wins. */
const TEXT = ['chunk_text', 'content', 'text', 'text_content', 'chunk'];
const URL_KEYS = ['url', 'source_url', 'page_url', 'link'];
const PAGE = ['page_title', 'title', 'heading'];
const FITS = ['strong', 'good', 'weak', 'none'];

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
  return {
    text: first(fields, TEXT),
    url,
    title: known[known.length - 1] ?? '',
    path: known.slice(0, -1),
    fit: FITS.includes(item?.fit) ? item.fit : '',
    id: String(item?.chunk_id ?? item?.id ?? '') || undefined,
    sent: sent || undefined,
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
