/** Shows JSON in colours, and a question as a curl line. */

import { h } from './dom.js'

const TOKENS = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const LONGEST = 400

/** Indented JSON; a very long text or list of numbers is shortened. @param {any} value @returns {HTMLElement} */
export function json(value) {
  const text = JSON.stringify(value, shortened, 2)
  const code = h('code', {})
  let end = 0
  for (const match of text.matchAll(TOKENS)) {
    code.append(text.slice(end, match.index))
    const [whole, quoted, colon] = match
    const kind = colon ? 'key' : quoted ? 'string' : 'value'
    code.append(h('span', { class: kind }, quoted ?? whole), colon ?? '')
    end = match.index + whole.length
  }
  code.append(text.slice(end))
  return h('pre', { class: 'code json', tabindex: 0 }, code)
}

/** @param {string} _ @param {any} value */
function shortened(_, value) {
  if (typeof value == 'string' && value.length > LONGEST) return `${value.slice(0, LONGEST)}…`
  if (Array.isArray(value) && value.length > 8 && value.every(each => typeof each == 'number')) {
    return [...value.slice(0, 3), `… ${value.length - 3} more`]
  }
  return value
}

/** The question as a shell line. @param {import('./wire.js').Exchange} exchange */
export function curl({ profile, fields }) {
  const path = profile === null ? '/query' : `/profiles/${encodeURIComponent(profile)}/query`
  const body = JSON.stringify(fields).replaceAll("'", "'\\''")
  return `curl -s ${location.origin}${path} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`
}
