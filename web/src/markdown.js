/**
 * Renders a passage's Markdown: paragraphs, headings, lists, tables, quotes, code, emphasis and http(s) links.
 * Every node is built by name, so HTML in a passage is shown as text. Images become their text: nothing is loaded.
 */

import { h } from './dom.js';
import { safe } from './urls.js';

const FENCE = /^\s*(`{3,}|~{3,})/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const ROW = /^\s*\|.*\|\s*$/;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
const QUOTE = /^(\s*>)+\s?/;
const RULE = /^(?=.*\|)[\s|:-]+$/;

/**
 * @param {string} text
 * @returns {HTMLElement[]} one element a block
 */
export function render(text) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  /** @type {HTMLElement[]} */
  const blocks = [];
  let at = 0;

  /** @param {(line: string) => boolean} belongs */
  const take = (belongs) => {
    const start = at;
    while (at < lines.length && belongs(lines[at])) at += 1;
    return lines.slice(start, at);
  };

  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (!line.trim()) at += 1;
    else if (fence) {
      at += 1;
      const code = take((each) => !each.trim().startsWith(fence[1]));
      at += 1;
      blocks.push(h('pre', { tabindex: 0 }, h('code', {}, code.join('\n'))));
    } else if (heading) {
      at += 1;
      blocks.push(h('p', {}, h('strong', {}, ...inline(heading[1]))));
    } else if (ROW.test(line) || RULE.test(lines[at + 1])) blocks.push(table(take((each) => each.includes('|'))));
    else if (ITEM.test(line)) blocks.push(listOf(take((each) => ITEM.test(each) || /^\s+\S/.test(each))));
    else if (QUOTE.test(line)) {
      const quoted = take((each) => QUOTE.test(each)).map((each) => each.replace(QUOTE, ''));
      blocks.push(h('blockquote', {}, ...render(quoted.join('\n'))));
    } else {
      const start = at;
      at += 1;
      take((each) => !!each.trim() && ![FENCE, HEADING, ROW, ITEM, QUOTE].some((begins) => begins.test(each)));
      blocks.push(h('p', {}, ...inline(lines.slice(start, at).join(' '))));
    }
  }
  return blocks;
}

/** @param {string[]} lines */
function listOf(lines) {
  /** @type {string[]} */
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item) items.push(item[3]);
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  const number = parseInt(lines[0].trim(), 10);
  const tag = Number.isNaN(number) ? 'ul' : 'ol';
  return h(tag, { start: number > 1 ? number : null }, ...items.map((item) => h('li', {}, ...inline(item))));
}

/** @param {string[]} lines */
function table(lines) {
  const tag = RULE.test(lines[1]) ? 'th' : 'td';
  const rows = lines
    .filter((line) => !RULE.test(line))
    .map((line) => line.trim().replace(/^\||(?<!\\)\|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\\|/g, '|')));
  /** @param {string[]} row @param {number} index */
  const element = (row, index) => h('tr', {}, ...row.map((cell) => h(index ? 'td' : tag, {}, ...inline(cell))));
  return h('div', { class: 'table', tabindex: 0 }, h('table', {}, ...rows.map(element)));
}

/** Code, image, link, bold, emphasis, line break in a cell: the first that begins is taken. */
const INLINE =
  /(`+)(.+?)\1(?!`)|!\[([^\]]*)\]\([^)\s]*[^)]*\)|\[([^\]]+)\]\(([^)\s]+)[^)]*\)|(\*\*|__)(?=\S)(.+?)\6|(?<![\p{L}\p{N}])([*_])(?=\S)(.+?)(?<=\S)\8(?![\p{L}\p{N}])|\\([\\`*_{}[\]()#+.!|~>-])|<br>/su;

/**
 * @param {string} text
 * @param {number} [depth] nested emphasis; deeper text stays as it is written
 * @returns {(Node | string)[]}
 */
function inline(text, depth = 0) {
  if (depth > 4) return [text];
  /** @type {(Node | string)[]} */
  const nodes = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    nodes.push(rest.slice(0, found.index));
    const [whole, , code, alt, label, address, , bold, , emphasis, escaped] = found;
    if (code !== undefined) nodes.push(h('code', {}, code));
    else if (alt !== undefined) nodes.push(alt);
    else if (label !== undefined) nodes.push(link(label, address));
    else if (bold !== undefined) nodes.push(h('strong', {}, ...inline(bold, depth + 1)));
    else if (emphasis !== undefined) nodes.push(h('em', {}, ...inline(emphasis, depth + 1)));
    else if (escaped !== undefined) nodes.push(escaped);
    else nodes.push(h('br'), '\n');
    rest = rest.slice(found.index + whole.length);
  }
  nodes.push(rest);
  return nodes;
}

/**
 * A link, or its text alone where the address is not http or https.
 * @param {string} label
 * @param {string} address
 */
function link(label, address) {
  const url = safe(address);
  return h(url ? 'a' : 'span', { href: url }, ...inline(label, 4));
}

/**
 * A part of a passage that a snippet can begin with.
 * @typedef {object} Part
 * @property {string} shown its text
 * @property {string} label the bold line above it: a heading, a tab's label, an admonition's mark
 * @property {string} [page] of a row, its cells as the page has them, one a line
 * @property {string} [code] of a line of code, its whole block
 */

/**
 * The passage in parts, in its order: sentences of paragraphs and items, rows of tables, lines of code. A label is
 * no part of its own, unless there is nothing else.
 * @param {HTMLElement[]} blocks
 * @returns {Part[]}
 */
export function plain(blocks) {
  let label = '';
  const parts = blocks.flatMap((block) => [block, ...block.querySelectorAll('p, li, tr, pre')]).flatMap((each) => {
    const text = each.textContent;
    if (each.matches('p') && each.firstElementChild?.matches('strong') && each.firstElementChild.textContent === text) {
      label = text;
      return [];
    }
    const found = each.matches('p, li') ? sentences(text) : each.matches('tr:has(td)') ? [row(each)] : each.matches('pre') ? code(text) : [];
    return found.map((part) => ({ ...part, label }));
  });
  return parts.length ? parts : [{ shown: label, label }];
}

/** @param {string} text */
function sentences(text) {
  const found = text.replace(/\s+/g, ' ').trim().match(/.+?(?:[.!?…](?=\s|$)|[。！？]|$)/gu) ?? [];
  return found.map((shown) => ({ shown: `${shown.trim()} ` }));
}

/** @param {string} text */
function code(text) {
  return text.split('\n').map((line) => ({ shown: `${line}\n`, code: text }));
}

/** Its cells, each after the name of its column; the first cell names the row. @param {Element} element */
function row(element) {
  const names = element.parentElement?.querySelectorAll('th') ?? [];
  const cells = [...element.children].map((cell) => cell.textContent);
  const shown = cells.map((cell, at) => cell && at && names[at]?.textContent ? `${names[at].textContent}: ${cell}` : cell);
  return { shown: shown.filter(Boolean).join(' · '), page: cells.filter(Boolean).join('\n') };
}
