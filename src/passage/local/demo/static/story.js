/** The panel: what happened with one question, or how to begin. */

import { results } from './answers.js'
import { curl, json } from './code.js'
import { copier, h, milliseconds } from './dom.js'
import { dropped } from './dropped.js'
import { ranks } from './ranks.js'
import { times } from './times.js'

/** @typedef {import('./wire.js').Exchange} Exchange */
/** @typedef {{ name: string, contract: string, collection: string, dimension: number, embedding_model: string }} Profile */

/** @param {string[]} questions to suggest @param {(question: string) => void} ask */
export function beginning(questions, ask) {
  return h('div', { class: 'begin' },
    h('p', {}, 'Ask something. This panel then shows how the passages were found, and how long each step took.'),
    questions.length > 0 && h('ul', {}, ...questions.map(question =>
      h('li', {}, h('button', { type: 'button', class: 'sample', click: () => ask(question) }, question)))),
    h('p', { class: 'soft' }, 'The function runs on this machine. Without COHERE_API_KEY, an emulator makes the embeddings.'))
}

/** @param {Exchange} exchange @param {Profile | undefined} profile the one that answered */
export function story(exchange, profile) {
  const { question, status, ms, bytes, body } = exchange
  const ok = status === 200
  const found = results(body)
  const debug = body?.debug
  return h('div', { class: 'story' },
    h('p', { class: 'question', dir: 'auto' }, question),
    h('p', { class: 'sum' },
      h('span', { class: ok ? 'status' : 'status bad' }, status ? String(status) : 'no answer'),
      h('span', {}, milliseconds(ms)),
      ok && h('span', {}, `${found.length} ${found.length === 1 ? 'passage' : 'passages'}`),
      h('span', {}, `${(bytes / 1024).toFixed(1)} KB`)),
    ok ? answered(exchange, found, debug, profile) : h('p', { class: 'fault' }, message(body)),
    profile && facts(profile, debug),
    section('Ask it yourself', copier(() => curl(exchange), 'the curl line'),
      h('pre', { class: 'code', tabindex: 0 }, h('code', {}, curl(exchange)))),
    body !== null && section('Raw JSON', copier(() => JSON.stringify(body, null, 2), 'the JSON'), json(body)))
}

/** @param {Exchange} exchange @param {import('./answers.js').Result[]} found @param {any} debug @param {Profile | undefined} profile */
function answered({ ms, body, leftOut }, found, debug, profile) {
  const warnings = [...(body?.warnings ?? []), ...(leftOut ? [`${leftOut} passages did not fit into the answer.`] : [])]
  return h('div', {},
    section('Where the time went', null, times(ms, debug)),
    warnings.map(each => h('p', { class: 'warning' }, each)),
    found.length > 0
      ? section(debug?.passages ? 'How it was ranked' : 'What was found', null, ranks(found, debug?.passages ?? [], debug?.balance), dropped(debug?.passages ?? [], profile?.name))
      : h('p', { class: 'fault' }, 'Nothing in the index fits this question.'))
}

/** @param {any} body */
function message(body) {
  const said = [body?.error?.message, body?.error, body?.message].find(each => typeof each == 'string')
  return said ?? 'No answer came. Is the server still running?'
}

/** @type {Record<string, string>} */
const SEARCHES = { dense: 'dense vectors', hybrid: 'hybrid: dense vectors and BM25', words: 'words: BM25' }

/** @param {Profile} profile @param {any} debug */
function facts(profile, debug) {
  const rows = {
    Profile: profile.name,
    Contract: profile.contract,
    Search: SEARCHES[debug?.mode] ?? null,
    Balance: debug?.balance == null ? null : `${debug.balance} (0: words alone, 1: meaning alone)`,
    Collection: debug?.collection ?? profile.collection,
    Model: debug?.model === '' ? null : `${debug?.model ?? profile.embedding_model} · ${profile.dimension} dimensions`,
  }
  return section('What was asked', null, h('dl', { class: 'facts' }, ...Object.entries(rows).filter(([, value]) => value)
    .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])))
}

/** @param {string} title @param {HTMLElement | null} tool @param {...any} inside */
function section(title, tool, ...inside) {
  return h('section', {}, h('div', { class: 'titled' }, h('h3', {}, title), tool), ...inside)
}
