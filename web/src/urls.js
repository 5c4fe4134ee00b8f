/** Addresses: which links are safe, where a section is, and what a page is called. */

/**
 * An absolute http or https URL, or null for any other.
 * @param {unknown} url
 * @returns {string | null}
 */
export function safe(url) {
  if (typeof url !== 'string' || !url.trim()) return null;
  try {
    const parsed = new URL(url, document.baseURI);
    return /^https?:$/.test(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}

/**
 * The headings that a URL suggests: folders, page, section. Used where an answer has no titles.
 * @param {string} url
 * @returns {string[]}
 */
export function headingsOf(url) {
  const { pathname, hash, hostname } = new URL(url);
  const names = pathname.split('/').filter((part) => part && !/^index(\.\w+)?$/.test(part));
  const words = [...names, hash.slice(1)].map(inWords).filter(Boolean);
  const distinct = words.filter((word, index) => word.toLowerCase() !== words[index - 1]?.toLowerCase());
  return distinct.length ? distinct : [hostname];
}

/** The text of a part of a URL; a part that is not UTF-8 stays as it is. @param {string} part */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} slug */
function inWords(slug) {
  const text = decoded(slug).replace(/\.x?html?$/i, '').replace(/[-_\s]+/g, ' ').trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * The URL with a text fragment, which scrolls to the text on a full load and marks it.
 * @param {string} url
 * @param {string} text words as the page shows them
 * @returns {string}
 */
export function withText(url, text) {
  if (!text || !('fragmentDirective' in document)) return url;
  const words = text.split(' ');
  const parts = words.length > 12 ? [words.slice(0, 6).join(' '), words.slice(-5).join(' ')] : [text];
  return `${url}${url.includes('#') ? '' : '#'}:~:text=${parts.map(encoded).join(',')}`;
}

/** `-`, `,` and `&` have a meaning in a text fragment. @param {string} text */
function encoded(text) {
  return encodeURIComponent(text).replace(/-/g, '%2D');
}
