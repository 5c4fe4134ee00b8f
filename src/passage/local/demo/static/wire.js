/**
 * Listens to the widget's requests. A question is sent with `debug`, so that its answer explains itself; URLs of the site
 * lead to its pages on this machine, and back again in feedback.
 */

const QUESTION = /^(?:\/profiles\/([^/]+))?\/query$/

/**
 * @typedef {object} Exchange
 * @property {string} question
 * @property {string | null} profile null for the default one
 * @property {Record<string, any>} fields as they were sent
 * @property {number} status 0 if no answer came
 * @property {number} ms from sending to the last byte, in the browser
 * @property {number} bytes of the body
 * @property {any} body the answer's JSON, null if it is none
 * @property {number} leftOut results that did not fit into the answer
 */

/**
 * @param {string} site the address of the site whose pages are shown; empty without pages
 * @param {{ asked: (question: string) => void, answered: (exchange: Exchange) => void, judged: (helpful: boolean, counted: boolean) => void }} listener
 */
export function listen(site, listener) {
  const local = location.origin
  const send = window.fetch.bind(window)
  let explains = true

  window.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href)
    if (url.origin !== local) return send(input, init)
    if (url.pathname === '/feedback') return judge(url, init)
    const match = url.pathname.match(QUESTION)
    return match ? ask(url, match[1] ? decodeURIComponent(match[1]) : null, init) : send(input, init)
  }

  /** @param {URL} url @param {string | null} profile @param {RequestInit | undefined} init */
  async function ask(url, profile, init) {
    const fields = Object.fromEntries([...url.searchParams].map(([name, value]) => [name, literal(name, value)]))
    const { question } = fields
    // Titles, asked for at each pause while someone types, are no story.
    const isStory = fields.search !== 'titles'
    if (isStory) listener.asked(question)
    const begun = performance.now()
    const response = await (isStory ? explained(url, init) : send(url, init)).catch(error => {
      if (error.name !== 'AbortError') tell({ status: 0, body: null, bytes: 0, leftOut: 0 })
      throw error
    })
    const text = await response.text()
    const left = Number(response.headers.get('X-Passage-Results-Left-Out') ?? 0)
    tell({ status: response.status, body: parsed(text), bytes: new TextEncoder().encode(text).length, leftOut: left })
    const shown = site ? text.replaceAll(`"${site}/`, `"${local}/`) : text
    return new Response(shown, { status: response.status, headers: response.headers })

    /** @param {Pick<Exchange, 'status' | 'body' | 'bytes' | 'leftOut'>} facts */
    function tell(facts) {
      if (isStory) listener.answered({ question, profile, fields, ms: performance.now() - begun, ...facts })
    }
  }

  /** @param {URL} url @param {RequestInit | undefined} init */
  async function explained(url, init) {
    if (!explains) return send(url, init)
    const asked = new URL(url)
    asked.searchParams.set('debug', 'true')
    const response = await send(asked, init)
    if (response.status !== 400 || !(await response.clone().text()).includes('debug')) return response
    explains = false // The deployment does not allow it.
    return send(url, init)
  }

  /** @param {URL} url @param {RequestInit | undefined} init */
  async function judge(url, init) {
    const body = JSON.parse(String(init?.body))
    if (site && body.url?.startsWith(`${local}/`)) body.url = site + body.url.slice(local.length)
    const response = await send(url, { ...init, body: JSON.stringify(body) })
    listener.judged(body.helpful, response.ok)
    return response
  }
}

/** A parameter as the API reads it. @param {string} name @param {string} value */
function literal(name, value) {
  return ['question', 'text', 'query', 'query_text', 'query_id'].includes(name) ? value : parsed(value) ?? value
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
