/** Calls the API: a question and its passages, or the kind of failure; and a reader's verdict on a passage. */

import { messageOf, passages } from './answers.js';

/**
 * @typedef {'offline' | 'unreachable' | 'limited' | 'busy' | 'timeout' | 'broken' | 'refused' | 'long' | 'setup'} Kind
 * @typedef {import('./options.js').Options} Options
 * @typedef {import('./answers.js').Passage} Passage
 */

/** Why there is no answer. */
export class Fault {
  /**
   * @param {Kind} kind
   * @param {number} [seconds] to wait
   * @param {string} [said] by the API
   * @param {number} [status] of its answer
   */
  constructor(kind, seconds = 0, said = '', status = 0) {
    this.kind = kind;
    this.seconds = seconds;
    this.said = said;
    this.status = status;
  }
}

/** @type {Record<number, Kind>} */
const KINDS = { 400: 'refused', 413: 'long', 414: 'long', 429: 'limited', 408: 'timeout', 504: 'timeout' };

/**
 * @param {Options} options
 * @param {string} path
 * @param {RequestInit} init
 * @param {Record<string, string>} [headers]
 */
function call({ endpoint, key }, path, init, headers) {
  return fetch(endpoint + path, { credentials: 'omit', headers: { ...headers, ...(key && { 'x-api-key': key }) }, ...init });
}

/**
 * The passages in the language of the options; in any language if the API has none in it, or refuses to choose by it.
 * @param {Options} options
 * @param {string} question
 * @param {AbortSignal} signal aborting it rejects with the abort's own error
 * @returns {Promise<Passage[]>}
 * @throws {Fault}
 */
export async function ask(options, question, signal) {
  const { language } = options;
  try {
    const found = language ? await send(options, question, signal, { language }) : [];
    if (found.length) return found;
  } catch (error) {
    // A store that cannot filter by a language is the API's own fault: 500.
    if (!(error instanceof Fault && (error.status === 500 || /refused|setup/.test(error.kind)))) throw error;
  }
  return send(options, question, signal);
}

/**
 * Pages and sections whose titles begin with the words. Nothing is embedded.
 * @param {Options} options
 * @param {string} text
 * @param {AbortSignal} signal
 * @returns {Promise<Passage[]>}
 * @throws {Fault}
 */
export async function titled(options, text, signal) {
  const found = await send(options, text, signal, { search: 'titles', k: '5' });
  return [...new Map(found.map((each) => [each.url, each])).values()].slice(0, 3);
}

/**
 * @param {Options} options
 * @param {string} question
 * @param {AbortSignal} signal
 * @param {Record<string, string>} [more] parameters of the query
 * @returns {Promise<Passage[]>}
 * @throws {Fault}
 */
async function send(options, question, signal, more) {
  const path = options.profile ? `/profiles/${encodeURIComponent(options.profile)}/query` : '/query';
  const { count, version, within } = options;
  const all = {
    question, order: 'relevance', fit: true, titles: true, k: count, version,
    filters: within && JSON.stringify({ source_url: { prefix: within } }), ...more,
  };
  const query = new URLSearchParams(Object.entries(all).flatMap(([name, value]) => (value ? [[name, String(value)]] : [])));
  const late = AbortSignal.timeout(options.timeout);
  try {
    return await read(await call(options, `${path}?${query}`, { signal: AbortSignal.any([signal, late]) }));
  } catch (error) {
    if (error instanceof Fault || signal.aborted) throw error;
    if (late.aborted) throw new Fault('timeout');
    throw new Fault(navigator.onLine ? 'unreachable' : 'offline');
  }
}

/** @param {Response} response */
async function read(response) {
  const body = await response.json().catch((error) => {
    if (!(error instanceof SyntaxError)) throw error; // the connection broke
  });
  if (response.ok) {
    const found = passages(body);
    if (found) return found;
    throw new Fault('broken');
  }
  const { status } = response;
  const after = response.headers.get('Retry-After') ?? '';
  const seconds = Number(after) || Math.ceil((Date.parse(after) - Date.now()) / 1000) || 0;
  throw new Fault(KINDS[status] ?? (status >= 500 ? 'busy' : 'setup'), Math.min(Math.max(seconds, 0), 600), messageOf(body), status);
}

/**
 * Sends a verdict. It has no text of the question.
 * @param {Options} options
 * @param {Passage} passage
 * @param {boolean} helpful
 * @returns {Promise<boolean>} false if the API takes no verdicts
 */
export async function rate(options, passage, helpful) {
  try {
    const body = JSON.stringify({ profile: options.profile || undefined, url: passage.sent, chunk_id: passage.id, helpful });
    const response = await call(options, '/feedback', { method: 'POST', keepalive: true, body }, { 'content-type': 'application/json' });
    return ![404, 405, 501].includes(response.status);
  } catch {
    return true; // A lost verdict is not worth a message to the reader.
  }
}
