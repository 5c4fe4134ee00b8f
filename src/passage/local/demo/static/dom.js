/** Makes elements without parsing HTML: what an answer holds stays text. */

const SVG = 'http://www.w3.org/2000/svg'

/**
 * @param {string} tag
 * @param {Record<string, any>} given attributes; a function listens to the event of its name
 * @param {...any} inside nodes and texts; false and null are left out
 * @returns {HTMLElement}
 */
export function h(tag, given = {}, ...inside) {
  return /** @type {HTMLElement} */ (made(document.createElement(tag), given, inside))
}

/** The same for SVG. @param {string} tag @param {Record<string, any>} given @param {...any} inside */
export function svg(tag, given = {}, ...inside) {
  return made(document.createElementNS(SVG, tag), given, inside)
}

/** @param {Element} node @param {Record<string, any>} given @param {any[]} inside */
function made(node, given, inside) {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value == 'function') node.addEventListener(name, value)
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value)
  }
  node.append(...inside.flat().filter(part => part !== null && part !== undefined && part !== false && part !== ''))
  return node
}

/** A button that copies a text and says so. @param {() => string} text @param {string} what */
export function copier(text, what) {
  const button = h('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${what}`, click: async () => {
    await navigator.clipboard.writeText(text())
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 1500)
  } }, 'Copy')
  return button
}

/** Milliseconds for a person. @param {number} ms */
export function milliseconds(ms) {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
}
