/** The list of passages: a listbox of links, and beside each link its whole text and buttons. */

import { fits } from './answers.js';
import { button, h, icon, set } from './dom.js';
import { plain, render } from './markdown.js';
import { places, snippet, terms } from './match.js';
import { withText } from './urls.js';

/**
 * @typedef {import('./answers.js').Passage} Passage
 * @typedef {object} Context
 * @property {string} prefix of ids
 * @property {import('./strings.js').Say} say
 * @property {boolean} thumbs whether verdicts can be sent
 * @property {(event: MouseEvent, passage: Passage, sentence: string) => void} follow a link was clicked
 * @property {(passage: Passage) => Promise<void>} copy
 * @property {(passage: Passage, helpful: boolean) => void} rate
 */

/**
 * Links are options of the listbox. Buttons cannot be inside a listbox, so they are in elements of their own, which
 * `order` places below their link.
 * @param {string} question
 * @param {Passage[]} found
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function results(question, found, context) {
  const words = terms(question);
  const fit = fits(found);
  const hits = found.map((passage, index) => hit(passage, fit[index], words, index, context));
  const list = h('div', { role: 'listbox', id: `${context.prefix}list`, 'aria-label': context.say('passages') });
  const tools = h('div', { class: 'tools' });
  hits.forEach(({ option, more }, index) => {
    option.style.order = more.style.order = String(index);
    list.append(option);
    tools.append(more);
  });
  return h('div', { class: 'found' }, list, tools);
}

/**
 * @param {Passage} passage
 * @param {string} fit
 * @param {string[]} words
 * @param {number} index
 * @param {Context} context
 */
function hit(passage, fit, words, index, context) {
  const { prefix, say } = context;
  const blocks = render(passage.text);
  const shown = snippet(plain(blocks), words);
  const text = h(shown.isCode ? 'code' : 'div', { class: 'text', dir: shown.isCode ? 'ltr' : 'auto' }, ...marked(shown.text, words));
  const option = h(
    'a',
    {
      role: 'option',
      id: `${prefix}option-${index}`,
      class: 'hit',
      href: passage.url && withText(passage.url, shown.sentence),
      tabindex: -1,
      'aria-selected': false,
      click: (/** @type {MouseEvent} */ event) => context.follow(event, passage, shown.sentence),
    },
    passage.path.length > 0 && h('div', { class: 'path' }, ...passage.path.map((each) => h('span', {}, h('bdi', {}, each)))),
    h(
      'div',
      { class: 'line' },
      h('div', { class: 'title', dir: 'auto' }, passage.title),
      h('div', { class: 'fit', 'data-fit': fit }, say(fit)),
    ),
    text,
  );
  return { option, more: more(passage, index, text, blocks, context) };
}

/**
 * @param {Passage} passage
 * @param {number} index
 * @param {HTMLElement} text the snippet, hidden while the whole passage is shown
 * @param {HTMLElement[]} blocks
 * @param {Context} context
 */
function more(passage, index, text, blocks, context) {
  const { prefix, say } = context;
  const id = `${prefix}whole-${index}`;
  const whole = h('div', { class: 'passage', id, hidden: true, dir: 'auto' }, ...blocks);
  const toggle = tool('more', say('whole'), {
    'aria-expanded': false,
    'aria-controls': id,
    click: () => {
      whole.hidden = !whole.hidden;
      text.hidden = !whole.hidden;
      set(toggle, { 'aria-expanded': !whole.hidden });
      relabel(toggle, say(whole.hidden ? 'whole' : 'less'));
    },
  });
  const copy = tool('copy', say('copy'), {
    click: async () => {
      await context.copy(passage);
      relabel(copy, say('copied'));
      setTimeout(() => relabel(copy, say('copy')), 2000);
    },
  });
  const thumbs = [true, false].map((helpful) => {
    const name = say(helpful ? 'helpful' : 'unhelpful');
    const thumb = button({ class: 'tool thumb',
      'aria-pressed': false,
      'aria-label': name,
      title: name,
      click: () => {
        for (const each of thumbs) set(each, { 'aria-pressed': each === thumb });
        context.rate(passage, helpful);
      },
    }, icon('thumb'));
    return thumb;
  });
  return h(
    'div',
    { class: 'more', role: 'group', 'aria-label': passage.title },
    whole,
    h(
      'div',
      { class: 'buttons' },
      passage.text.trim() !== text.textContent && toggle, // the snippet may show all of it
      !!navigator.clipboard && copy,
      h('span', { class: 'gap' }),
      ...(context.thumbs && passage.sent ? thumbs : []),
    ),
  );
}

/**
 * @param {string} name of its icon
 * @param {string} label
 * @param {Record<string, any>} attributes
 */
function tool(name, label, attributes) {
  return button({ class: 'tool', ...attributes }, icon(name), h('span', {}, label));
}

/**
 * @param {HTMLElement} button
 * @param {string} label
 */
function relabel(button, label) {
  /** @type {HTMLElement} */ (button.lastElementChild).textContent = label;
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
