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
  const names = [fields.title, ...(fields.headings ?? [])].filter((each, index, all) => each && each !== all[index - 1])
  return { url, score: score ?? 0, title: names.at(-1) ?? url, path: names.slice(0, -1).at(-1) ?? '' }
}
