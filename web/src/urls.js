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
