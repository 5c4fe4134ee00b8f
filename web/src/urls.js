/** Addresses: which links are safe, and how they are written. */

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

/** A URL as a reader writes it: without its scheme. It names a passage that has no title. @param {string} url */
export function address(url) {
  const { host, pathname, hash } = new URL(url);
  return host + decoded(pathname + hash).replace(/\/$/, '');
}

/** The text of a part of a URL; a part that is not UTF-8 stays as it is. @param {string} part */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * The URL with a text fragment, which scrolls to the text on a full load and marks it.
 * @param {string} url
 * @param {string} text words as the page shows them; one fragment cannot cross its lines, such as a row's cells
 * @returns {string}
 */
export function withText(url, text) {
  if (!text || !('fragmentDirective' in document)) return url;
  const lines = text.split(/\s*\n\s*/);
  const [first, last] = [lines[0], lines[lines.length - 1]].map((line) => line.split(' '));
  const isOne = lines.length < 2 && first.length < 13;
  const parts = isOne ? lines : [first.slice(0, 6).join(' '), last.slice(-5).join(' ')];
  return `${url}${url.includes('#') ? '' : '#'}:~:text=${parts.map(encoded).join(',')}`;
}

/** `-`, `,` and `&` have a meaning in a text fragment. Half a character pair is no UTF-8. @param {string} text */
function encoded(text) {
  return encodeURIComponent(text.toWellFormed()).replace(/-/g, '%2D');
}
