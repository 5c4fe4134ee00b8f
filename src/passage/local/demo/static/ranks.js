/** Draws how the ranks of each stage became the answer: ranks by meaning on the left, by words on the right. */

import { h, svg } from './dom.js'

/** @typedef {import('./answers.js').Result} Result */
/** @typedef {{ rank: number, score: number, vectors?: number, words?: number }} Place */
/** @typedef {{ id: string | number, url?: string, dropped?: string, stages: Record<string, Place> }} Explained */

const ROW = 60
const SIDE = 64
const NODE = 13

const NAMES = { dense: 'meaning', text: 'words', fused: 'both, fused', rerank: 'reranker', selection: 'answer' }
const HINTS = {
  dense: 'dense: cosine of the embeddings', text: 'BM25: the words of the question', rerank: 'relevance, by the reranker'
}

/**
 * @param {Result[]} found in the answer's order
 * @param {Explained[]} explained those of the answer first, in its order; empty where the API does not explain itself
 * @param {number | null} [balance] the share of the score by meaning in a fused one
 * @returns {HTMLElement}
 */
export function ranks(found, explained, balance) {
  const shown = explained.slice(0, found.length)
  const has = /** @param {string} stage */ stage => shown.some(each => each.stages[stage])
  const left = has('dense') ? 'dense' : null
  const right = has('text') ? 'text' : has('rerank') ? 'rerank' : null
  const top = Math.max(0.0001, ...found.map(each => each.score))
  const rows = found.map((result, index) => row(result, index, shown[index]?.stages ?? {}, top, balance))
  return h('div', { class: 'ranks', 'data-left': left, 'data-right': right },
    (left || right) && h('div', { class: 'heads' }, head(left), h('span', { class: 'middle' }, 'answer'), head(right)),
    h('div', { class: 'flow' },
      left && side(shown, left, false),
      h('ol', { class: 'rows' }, ...rows),
      right && side(shown, right, true)))
}

/** @param {string | null} stage */
function head(stage) {
  return h('span', { class: stage ? `by ${stage}` : 'by', title: stage && HINTS[stage] }, stage ? `by ${NAMES[stage]}` : '')
}

/** @param {Result} result @param {number} index @param {Record<string, Place>} stages @param {number} top @param {number | null} [balance] */
function row(result, index, stages, top, balance) {
  const share = Math.max(0, Math.min(1, result.score / top))
  const bar = h('span', { class: 'share' })
  // Where scores were summed, the bar has two parts: by meaning, by words.
  const { vectors, words } = stages.fused ?? {}
  const sum = vectors != null && words != null && balance != null
  bar.style.setProperty('--share', `${(sum ? vectors * balance : share) * 100}%`)
  bar.style.setProperty('--second', `${(sum ? words * (1 - balance) : 0) * 100}%`)
  const detail = ['fused', 'rerank'].filter(name => stages[name])
    .map(name => `${NAMES[name]} ${stages[name].rank}.${parts(stages[name])}`).join(', ')
  return h('li', { class: 'row', 'data-row': index, mouseenter: light, mouseleave: light },
    h('span', { class: 'place' }, String(index + 1)),
    h('span', { class: 'named' },
      h('span', { class: 'title', title: result.url }, result.title),
      h('span', { class: 'path' }, result.path || result.url)),
    h('span', { class: 'score', title: detail }, result.score.toFixed(3), bar))
}

/** The scaled scores that a fused one is made of. @param {Place} place */
function parts({ vectors, words }) {
  return vectors == null || words == null ? '' : ` (meaning ${vectors.toFixed(2)}, words ${words.toFixed(2)})`
}

/** The nodes of one stage, in the order of their ranks, each with a line to its row. */
function side(/** @type {Explained[]} */ shown, /** @type {string} */ stage, /** @type {boolean} */ mirrored) {
  const height = shown.length * ROW
  const ranked = shown.map((each, index) => ({ place: each.stages[stage], index })).filter(each => each.place)
    .sort((one, other) => one.place.rank - other.place.rank)
  const x = mirrored ? SIDE - NODE - 2 : NODE + 2
  const end = mirrored ? 0 : SIDE
  const lines = [], nodes = []
  for (const [slot, { place, index }] of ranked.entries()) {
    const from = slot * ROW + ROW / 2, to = index * ROW + ROW / 2
    const start = mirrored ? x - NODE : x + NODE
    const bend = (start + end) / 2
    lines.push(svg('path', { class: 'line', 'data-row': index, d: `M${start} ${from}C${bend} ${from} ${bend} ${to} ${end} ${to}` }))
    nodes.push(svg('g', { class: 'node', 'data-row': index, mouseenter: light, mouseleave: light },
      svg('title', {}, `${NAMES[stage]}: rank ${place.rank}, score ${place.score.toFixed(4)}`),
      svg('circle', { cx: x, cy: from, r: NODE }),
      svg('text', { x, y: from, dy: '0.35em' }, String(place.rank))))
  }
  return svg('svg', { class: `side ${stage}`, width: SIDE, height, viewBox: `0 0 ${SIDE} ${height}`, 'aria-hidden': 'true' }, ...lines, ...nodes)
}

/** Marks all parts of one passage while the pointer is over one of them. @param {Event} event */
function light(event) {
  const at = /** @type {Element} */ (event.currentTarget)
  const flow = at.closest('.flow')
  const on = event.type === 'mouseenter'
  flow?.classList.toggle('lit', on)
  for (const part of flow?.querySelectorAll('[data-row]') ?? []) {
    part.classList.toggle('on', on && part.getAttribute('data-row') === at.getAttribute('data-row'))
  }
}
