/** Lists passages that a stage found and that are not in the answer. */

import { results } from './answers.js'
import { h } from './dom.js'

/** @typedef {import('./ranks.js').Explained} Explained */

const SHOWN = 10

/**
 * @param {Explained[]} explained
 * @param {string | undefined} profile whose chunks they are
 */
export function dropped(explained, profile) {
  const rest = explained.filter(each => each.dropped)
  const shown = rest.slice(0, SHOWN)
  const reasons = new Set(shown.map(each => each.dropped))
  const rows = shown.map(each => ({ each, name: h('td', { class: 'name' }, String(each.id)) }))
  return rest.length > 0 && h('details', {
    class: 'fold',
    toggle: () => rows.splice(0).forEach(({ each, name }) => title(each, name, profile)),
  },
  h('summary', {}, `Found, but not in the answer: ${rest.length}`),
  reasons.size === 1 && h('p', {}, `Why: ${[...reasons][0]}.`),
  h('table', { class: 'rest' },
    h('thead', {}, h('tr', {}, ...['Passage', 'Meaning', 'Words', ...(reasons.size > 1 ? ['Why'] : [])].map(name => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, ...rows.map(({ each, name }) => h('tr', {},
      name,
      h('td', {}, String(each.stages.dense?.rank ?? '–')),
      h('td', {}, String(each.stages.text?.rank ?? '–')),
      reasons.size > 1 && h('td', { class: 'why' }, each.dropped))))),
  rest.length > SHOWN && h('p', {}, `And ${rest.length - SHOWN} more.`))
}

/** Names a passage by its URL, which is asked for where the answer does not have it. */
async function title(/** @type {Explained} */ { id, url }, /** @type {HTMLElement} */ place, /** @type {string | undefined} */ profile) {
  try {
    const chunk = url || !profile ? { url } : await (await fetch(`/profiles/${encodeURIComponent(profile)}/chunks/${encodeURIComponent(id)}`)).json()
    const [found] = results({ results: [chunk] })
    if (!found.url) return
    place.replaceChildren(found.title, found.path && found.path !== found.title ? h('span', { class: 'path' }, ` ${found.path}`) : '')
    place.title = found.url
  } catch {
    // Its id stays.
  }
}
