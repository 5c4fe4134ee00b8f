/** Goes to a passage: through the site's router where it has one, else by a full load; then marks the passage. */

import { decoded, withText } from './urls.js';

const NAME = 'passage-match';
const PATIENCE = 5000;
const IGNORED = 'script, style, noscript, template, passage-chat, nav, [aria-hidden=true]';

/** @type {CSSStyleSheet | undefined} */
let sheet;
/** @type {ReturnType<typeof setInterval> | undefined} */
let looking;

/**
 * Clicks an anchor in the page itself, so that a router which watches the page's clicks takes it. A click that no
 * router takes loads the page, with a text fragment.
 * @param {HTMLElement} host
 * @param {string} url
 * @param {string} sentence as the page shows it
 */
export function visit(host, url, sentence) {
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.hidden = true;
  const last = (/** @type {Event} */ event) => {
    if (event.target !== anchor) return;
    if (event.defaultPrevented || isHere(url)) return point(url, sentence);
    anchor.href = withText(url, sentence);
    if (anchor.origin === location.origin) keep(JSON.stringify([url, sentence]));
  };
  window.addEventListener('click', last);
  host.append(anchor);
  anchor.click();
  anchor.remove();
  window.removeEventListener('click', last);
}

/** Whether the URL is on this page, so that following it loads nothing. @param {string} url */
function isHere(url) {
  return url.includes('#') && url.split('#')[0] === location.href.split('#')[0];
}

/** Keeps where a link leads for the page that it loads. @param {string} place */
function keep(place) {
  try {
    sessionStorage.setItem(NAME, place);
  } catch {
    // Storage is forbidden: the browser finds the text, unless a closed tab hides it.
  }
}

/** Points to the passage that a link to this page was about. A text fragment opens no tab. */
export function arrive() {
  try {
    const [url, sentence] = JSON.parse(sessionStorage.getItem(NAME) ?? '');
    sessionStorage.removeItem(NAME);
    point(url, sentence, true);
  } catch {
    // No such link, or storage is forbidden.
  }
}

/**
 * Marks the sentence once the page at `url` is drawn, opens what hides it and scrolls to it, or to the section's heading
 * without it. A router may draw the page once more, which leaves the range empty: for as long, the sentence is marked
 * again. A tab opens only once its script runs, and is asked until then.
 * @param {string} url
 * @param {string} sentence
 * @param {boolean} [isLoaded] whether the browser went to the section
 */
export function point(url, sentence, isLoaded = false) {
  forget();
  if (!sentence) return; // The router goes to the section.
  const { hash, pathname } = new URL(url);
  const heading = () => document.getElementById(decoded(hash.slice(1)));
  const ends = Date.now() + PATIENCE;
  /** @type {Range | null} */
  let range = null;
  let isShown = false;
  // A router scrolls when it has drawn the page: the passage is found after it.
  looking = setInterval(() => {
    if (Date.now() > ends) {
      clearInterval(looking);
      if (!isShown && !isLoaded) scrollTo(heading());
      return;
    }
    if (![pathname, pathname.replace(/(\.html|\/)$/, '')].includes(location.pathname)) return;
    if (!range || range.collapsed) {
      range = find(sentence, heading());
      isShown = false;
      if (range) mark(range);
    }
    const at = range?.startContainer.parentElement;
    if (!at || isShown) return;
    isShown = at.checkVisibility();
    if (isShown) scrollTo(at);
    else reveal(at);
  }, 100);
}

/** Takes the mark away, and stops looking for a passage. */
export function forget() {
  clearInterval(looking);
  CSS.highlights?.delete(NAME);
}

/** Opens what hides an element: `details` and tabs. @param {Element | null} element */
function reveal(element) {
  for (let at = element; at; at = at.parentElement) {
    if (at.matches('details:not([open])')) /** @type {HTMLElement | null} */ (at.querySelector('summary'))?.click();
    else if (getComputedStyle(at).display === 'none') tabOf(at)?.click();
  }
}

/** The tab of a panel: the label before it, else the tab of the same number around it. @param {Element} panel */
function tabOf(panel) {
  const { parentElement: beside, previousElementSibling: before } = panel;
  if (before?.matches('label')) return /** @type {HTMLElement} */ (before);
  const panels = [...(beside?.children ?? [])].filter((each) => each.role === panel.role && each.localName === panel.localName);
  for (const around of [beside, beside?.parentElement]) {
    const all = [...(around?.querySelectorAll('[role=tab], [type=radio]') ?? [])];
    const tabs = all.filter((tab) => !panels.some((each) => each.contains(tab)));
    if (tabs.length === panels.length) return /** @type {HTMLElement} */ (tabs[panels.indexOf(panel)]);
  }
}

/** @param {Range} range */
function mark(range) {
  if (!CSS.highlights) return;
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(`::highlight(${NAME}){background-color:#ffe08a;color:#1d1a10}`);
  }
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
  CSS.highlights.set(NAME, new Highlight(range));
}

/** @param {Element | null} element */
function scrollTo(element) {
  element?.scrollIntoView({ block: 'center' });
}

/**
 * The range of a text, with any white space or none between its words, as between cells: after the heading if it is there, else anywhere.
 * @param {string} text
 * @param {Element | null} heading
 * @returns {Range | null}
 */
function find(text, heading) {
  const wanted = text.replace(/\s/g, '').toLowerCase();
  const walker = document.createTreeWalker(document.querySelector('main, [role=main], article') ?? document.body, NodeFilter.SHOW_TEXT);
  let page = '';
  /** @type {[Text, number][]} */
  const places = [];
  let begin = 0;
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (node.parentElement?.closest(IGNORED)) continue;
    if (heading && !begin && heading.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) begin = page.length;
    for (const { 0: sign, index } of node.data.matchAll(/\S/g)) {
      page += sign.toLowerCase()[0];
      places.push([node, index]);
    }
  }
  const after = page.indexOf(wanted, begin);
  const at = after < 0 ? page.indexOf(wanted) : after;
  if (at < 0) return null;
  const range = document.createRange();
  const [node, last] = places[at + wanted.length - 1];
  range.setStart(...places[at]);
  range.setEnd(node, last + 1);
  return range;
}

/**
 * Calls `changed` when the page's path or query changes without a load, until the signal aborts.
 * @param {() => void} changed
 * @param {AbortSignal} signal
 */
export function watchRoute(changed, signal) {
  const page = () => location.pathname + location.search;
  let before = page();
  const look = () => {
    if (page() === before) return;
    before = page();
    changed();
  };
  /** @type {EventTarget | undefined} */
  const navigation = /** @type {any} */ (window).navigation;
  navigation?.addEventListener('currententrychange', look, { signal });
  window.addEventListener('popstate', look, { signal });
}
