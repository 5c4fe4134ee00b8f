/** Draws where the time of an answer went. */

import { h, milliseconds } from './dom.js'

const STEPS = { embedding: 'embedding', search: 'search', rerank: 'reranking', neighbors: 'neighbors' }

/**
 * @param {number} whole in the browser, in milliseconds
 * @param {any} debug the answer's `debug`; undefined where the API does not explain itself
 * @returns {HTMLElement}
 */
export function times(whole, debug) {
  const spent = debug?.times_ms ?? {}
  const inside = spent.total ?? 0
  const steps = Object.keys(STEPS).filter(name => name in spent).map(name => ({ name, label: STEPS[name], ms: spent[name] }))
  if ('total' in spent) {
    const rest = inside - steps.reduce((sum, step) => sum + step.ms, 0)
    steps.push({ name: 'pipeline', label: 'pipeline', ms: Math.max(0, rest) })
  }
  steps.push({ name: 'outside', label: debug ? 'HTTP and browser' : 'the whole request', ms: Math.max(0, whole - inside) })
  const bar = h('div', { class: 'bar', role: 'img', 'aria-label': steps.map(({ label, ms }) => `${label}: ${milliseconds(ms)}`).join(', ') },
    ...steps.map(({ name, label, ms }) => {
      const part = h('span', { class: name, title: `${label}: ${milliseconds(ms)}` })
      part.style.setProperty('--ms', String(Math.max(ms, whole / 200)))
      return part
    }))
  const legend = h('ul', { class: 'legend' }, ...steps.filter(({ name, ms }) => name !== 'pipeline' || ms >= 0.1).map(({ name, label, ms }) =>
    h('li', { class: name }, h('span', { class: 'ms' }, milliseconds(ms)), label,
      name === 'embedding' && debug?.embedding_cached && h('em', {}, 'cached'))))
  return h('div', { class: 'times' }, bar, legend)
}
