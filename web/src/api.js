/** Calls the API: a question and its passages, or the kind of failure; and a reader's verdict on a passage. */

import { messageOf, passages } from './answers.js';

/**
 * @typedef {'offline' | 'unreachable' | 'limited' | 'busy' | 'timeout' | 'broken' | 'refused' | 'long' | 'setup'} Kind
 * @typedef {import('./options.js').Options} Options
 * @typedef {import('./answers.js').Passage} Passage
 */

/** Why there is no answer. */
export class Fault extends Error {
  /**
   * @param {Kind} kind
   * @param {{ seconds?: number, said?: string, status?: number }} [more] seconds to wait; what the API said
   */
  constructor(kind, { seconds = 0, said = '', status = 0 } = {}) {
    super(kind);
    this.kind = kind;
    this.seconds = seconds;
    this.said = said;
    this.status = status;
  }
}

/** @type {Record<number, Kind>} */
const KINDS = { 400: 'refused', 413: 'long', 414: 'long', 429: 'limited', 408: 'timeout', 504: 'timeout' };

/** @param {Options} options */
function headers(options) {
  return options.key ? { 'x-api-key': options.key } : undefined;
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
    const response = await fetch(`${options.endpoint}${path}?${query}`, {
      headers: headers(options),
      credentials: 'omit',
      signal: AbortSignal.any([signal, late]),
    });
    return await read(response);
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
  throw new Fault(KINDS[status] ?? (status >= 500 ? 'busy' : 'setup'), { seconds: Math.min(Math.max(seconds, 0), 600), said: messageOf(body), status });
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
    const response = await fetch(`${options.endpoint}/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers(options) },
      credentials: 'omit',
      keepalive: true,
      body: JSON.stringify({
        profile: options.profile || undefined,
        url: passage.sent ?? undefined,
        chunk_id: passage.id === null ? undefined : String(passage.id),
        helpful,
      }),
    });
    return ![404, 405, 501].includes(response.status);
  } catch {
    return true; // A lost verdict is not worth a message to the reader.
  }
}
