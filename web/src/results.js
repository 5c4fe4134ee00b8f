/** The list of passages: a listbox of links, and beside each link its whole text and buttons. */

import { button, h, icon, set } from './dom.js';
import { plain, render } from './markdown.js';
import { places, snippet, terms } from './match.js';
import { address, withText } from './urls.js';

/**
 * @typedef {import('./answers.js').Passage} Passage
 * @typedef {object} Context
 * @property {string} prefix of ids
 * @property {import('./strings.js').Say} say
 * @property {boolean} thumbs whether verdicts can be sent
 * @property {(event: MouseEvent, passage: Passage, sentence: string) => void} follow a link was clicked
 * @property {(passage: Passage, code?: string) => Promise<void>} copy the passage, or code of it
 * @property {(passage: Passage, helpful: boolean) => void} rate
 */

/**
 * Links are options of the listbox. Buttons cannot be inside a listbox, so it owns the options by their ids, and each
 * passage's buttons follow its link. Passages of one page stand together, in the place of the best.
 * @param {string} question
 * @param {Passage[]} found
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function results(question, found, context) {
  const words = terms(question);
  /** @type {Map<any, HTMLElement[]>} */
  const pages = new Map();
  found.forEach((passage, index) => {
    const key = passage.url?.split('#')[0] ?? index;
    const first = pages.get(key);
    const hits = hit(passage, words, index, context, !!first);
    if (first) first.push(...hits);
    else pages.set(key, hits);
  });
  const all = [...pages.values()].flat();
  const owned = all.map(({ id }) => id).filter(Boolean).join(' ');
  const list = h('div', { role: 'listbox', id: `${context.prefix}list`, 'aria-label': context.say('passages'), 'aria-owns': owned });
  return h('div', { class: 'found' }, isUnclear(found) && h('p', { class: 'lead' }, context.say('unclear')), list, ...all);
}

/** Whether not even the first passage fits. @param {Passage[]} found */
export function isUnclear(found) {
  return found[0].fit === 'none';
}

/**
 * Pages and sections by their titles, as options of a listbox.
 * @param {Passage[]} found
 * @param {Context} context
 */
export function titles(found, { prefix, say, follow }) {
  const options = found.map((each, index) =>
    h('a', {
      role: 'option', class: 'question', id: `${prefix}title-${index}`, href: each.url, tabindex: -1,
      title: each.url && address(each.url),
      click: (/** @type {MouseEvent} */ event) => follow(event, each, ''),
    }, icon('search'), h('span', { dir: 'auto' }, [...each.path, each.title].join(' › '))));
  return h('div', { role: 'listbox', id: `${prefix}titles`, 'aria-label': say('titles') }, ...options);
}

/**
 * @param {Passage} passage
 * @param {string[]} words
 * @param {number} index
 * @param {Context} context
 * @param {boolean} isSame whether a passage of its page stands above
 */
function hit(passage, words, index, context, isSame) {
  const { prefix, say } = context;
  const { fit, title, url } = passage;
  const blocks = render(passage.text);
  const shown = snippet(plain(blocks), words);
  const id = `${prefix}text-${index}`;
  // The link's name is its title and fit. What it says is its description.
  const text = h(
    'div',
    { class: 'text', id, 'aria-hidden': 'true', dir: 'auto' },
    ...marked(shown.text, words),
    shown.lines && h('code', { dir: 'ltr' }, ...marked(shown.lines, words)),
  );
  const path = passage.path.map((each) => h('span', {}, h('bdi', {}, each)));
  const option = h(
    'a',
    {
      role: 'option',
      id: `${prefix}option-${index}`,
      class: isSame ? 'hit same' : 'hit',
      'aria-describedby': id,
      tabindex: -1,
      href: url && withText(url, shown.sentence),
      title: url && address(url),
      click: (/** @type {MouseEvent} */ event) => context.follow(event, passage, shown.sentence),
    },
    path.length > 0 && !isSame && h('div', { class: 'path', 'aria-hidden': 'true' }, ...path),
    h(
      'div',
      { class: 'line' },
      h('div', { class: 'title', dir: 'auto' }, title),
      /strong|good|weak/.test(fit) && h('div', { class: 'fit', 'data-fit': fit }, say(fit)),
    ),
    text,
  );

  mark(blocks, words);
  const whole = h('div', { class: 'passage', id: `${prefix}whole-${index}`, hidden: true, dir: 'auto' }, ...blocks);
  return [option, h('div', { class: 'more' }, whole, buttons(passage, text, whole, shown.code, context))];
}

/**
 * @param {Passage} passage
 * @param {HTMLElement} text the snippet, hidden while the whole passage is shown
 * @param {HTMLElement} whole
 * @param {string | undefined} code the block that the snippet is of
 * @param {Context} context
 */
function buttons(passage, text, whole, code, context) {
  const { say } = context;
  /** Each name ends with the passage's title. @param {HTMLElement} tool @param {string} label */
  const name = (tool, label) => {
    if (tool.children[1]) tool.children[1].textContent = say(label);
    set(tool, { 'aria-label': `${say(label)}: ${passage.title}` });
    return tool;
  };
  /** @param {string} sign @param {string} label @param {Record<string, any>} attributes */
  const tool = (sign, label, attributes) => name(button({ class: 'tool', ...attributes }, icon(sign), h('span')), label);
  /** @param {string} label @param {string} [part] */
  const copying = (label, part) => {
    const copy = tool('copy', label, {
      click: async () => {
        await context.copy(passage, part);
        name(copy, 'copied');
        setTimeout(() => name(copy, label), 2000);
      },
    });
    return copy;
  };
  const toggle = tool('more', 'whole', {
    'aria-expanded': false,
    'aria-controls': whole.id,
    click: () => {
      whole.hidden = !whole.hidden;
      text.hidden = !whole.hidden;
      set(toggle, { 'aria-expanded': !whole.hidden });
      name(toggle, whole.hidden ? 'whole' : 'less');
    },
  });
  const thumbs = [true, false].map((helpful) => {
    const label = helpful ? 'helpful' : 'unhelpful';
    const click = () => {
      for (const each of thumbs) set(each, { 'aria-pressed': each === thumb });
      context.rate(passage, helpful);
    };
    const thumb = name(button({ class: 'tool thumb', 'aria-pressed': false, title: say(label), click }, icon('thumb')), label);
    return thumb;
  });
  const canCopy = !!navigator.clipboard;
  return h(
    'div',
    { class: 'buttons' },
    canCopy && code && copying('copyCode', code),
    passage.text.trim() !== text.textContent && toggle, // the snippet may show all of it
    canCopy && copying('copy'),
    context.thumbs && passage.sent && h('span', { class: 'thumbs' }, ...thumbs),
  );
}

/** Marks the words in blocks. @param {HTMLElement[]} blocks @param {string[]} words */
function mark(blocks, words) {
  for (const block of blocks) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
    for (const each of texts) each.replaceWith(...marked(each.data, words));
  }
}

/**
 * The text with the question's words in `<mark>`.
 * @param {string} text
 * @param {string[]} words
 * @returns {(Node | string)[]}
 */
function marked(text, words) {
  let end = 0;
  const nodes = places(text, words).flatMap(([from, to]) => {
    const before = text.slice(end, from);
    end = to;
    return [before, h('mark', { part: 'mark' }, text.slice(from, to))];
  });
  return [...nodes, text.slice(end)];
}
