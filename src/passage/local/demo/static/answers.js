/** Reads the answers of all contracts into one kind of result. */

/**
 * @typedef {object} Result
 * @property {string} title
 * @property {string} path the heading or page above it
 * @property {string} url
 * @property {number} score
 */

/** @param {any} body @returns {Result[]} */
export function results(body) {
  const list = body?.results ?? body?.chunks
  return Array.isArray(list) ? list.map(result) : []
}

/** @param {any} item @returns {Result} */
function result(item) {
  const fields = { ...item.payload, ...item.metadata, ...item }
  const url = [fields.url, fields.source_url].find(each => typeof each == 'string') ?? ''
  const score = [fields.relevance_score, fields.similarity_score, fields.score].find(each => typeof each == 'number')
  const headings = Array.isArray(fields.section_headers) ? fields.section_headers : []
  const names = headings.length ? headings : named(url)
  return { url, score: score ?? 0, title: names.at(-1) ?? url, path: names.slice(0, -1).at(-1) ?? '' }
}

/** The words of a URL: its last folders, and its anchor. @param {string} url */
function named(url) {
  try {
    const { pathname, hash } = new URL(url)
    const folders = pathname.split('/').filter(Boolean).slice(-2)
    return [...folders, hash.slice(1)].filter(Boolean).map(readable)
  } catch {
    return []
  }
}

/** @param {string} slug */
function readable(slug) {
  const words = decodeURIComponent(slug).replace(/\.html?$/, '').replaceAll(/[-_]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
