/** Builds DOM nodes from names and text. Nothing here parses HTML. */

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * An element with attributes, listeners and children. An attribute that is null, undefined or false is left out;
 * an `aria-` attribute may be false.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] a function is a listener for the event of that name
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === false ? !name.startsWith('aria-') : value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value);
    // Every class is a part, too, so that a site can style it.
    if (name === 'class') element.setAttribute('part', value);
  }
}

/**
 * A button that submits nothing.
 * @param {Record<string, any>} attributes
 * @param {...Child} children
 */
export function button(attributes, ...children) {
  return h('button', { type: 'button', ...attributes }, ...children);
}

const SVG = 'http://www.w3.org/2000/svg';

/** Icons on a grid of 24, drawn with strokes. @type {Record<string, string>} */
const PATHS = {
  search: 'M10.5 4a6.5 6.5 0 1 0 .1 0ZM15 15l5 5',
  close: 'M6 6l12 12m0-12L6 18',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  thumb: 'M7 11v9H4v-9zl4-7q3 0 2 6h7l-2 10H7',
  more: 'M6 9.5l6 6 6-6',
  again: 'M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5',
  chat: 'M4 5h16v11H11l-4 3.5V16H4zM8 9h8M8 12h5',
};

/**
 * A decorative icon.
 * @param {string} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  set(svg, { viewBox: '0 0 24 24', 'aria-hidden': 'true' });
  const path = document.createElementNS(SVG, 'path');
  set(path, { d: PATHS[name] });
  svg.append(path);
  return svg;
}
