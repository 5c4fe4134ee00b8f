/** A client of Passage, a retrieval API for documentation sites. Types and their meaning: passage-client.d.ts. */

export class PassageError extends Error {
  constructor(message, { cause, ...facts } = {}) {
    super(message, { cause })
    this.name = new.target.name
    Object.assign(this, { code: null, status: null, retryAfter: null, body: null, ...facts })
  }
}
export class InvalidRequest extends PassageError {}
export class Forbidden extends PassageError {}
export class NotFound extends PassageError {}
export class RateLimited extends PassageError {}
export class ServerError extends PassageError {}
export class Unavailable extends PassageError {}
export class TimedOut extends PassageError {}
export class NoAnswer extends PassageError {}

const KINDS = {
  401: Forbidden, 403: Forbidden, 404: NotFound, 408: TimedOut, 429: RateLimited,
  502: Unavailable, 503: Unavailable, 504: TimedOut
}

export class Passage {
  #options
  #default

  constructor({ endpoint, ...options } = {}) {
    if (endpoint == null) throw new TypeError("Passage needs `endpoint`, the API's URL.")
    // A page's own address completes a relative endpoint.
    const url = new URL(endpoint, globalThis.location?.href).href.replace(/\/+$/, '')
    this.#options = { timeout: 30_000, retries: 2, fetch: (...given) => fetch(...given), ...options, url }
  }

  ask(question, { profile = this.#options.profile, signal, timeout, ...fields } = {}) {
    const asked = { titles: true, ...(typeof question == 'string' ? { question } : question) }
    const path = profile ? `/profiles/${encodeURIComponent(profile)}/query` : '/query'
    return this.#call(path, { signal, timeout }, { ...asked, ...fields })
  }

  async chunk(id, { withVectors, ...options } = {}) {
    const query = withVectors ? '?with_vectors=true' : ''
    return this.#call(`${await this.#profile(options)}/chunks/${encodeURIComponent(id)}${query}`, options)
  }

  async collection(options = {}) {
    return this.#call(`${await this.#profile(options)}/collection`, options)
  }

  profiles(options) {
    return this.#call('/profiles', options)
  }

  feedback({ profile = this.#options.profile, ...fields }, options) {
    return this.#call('/feedback', options, { profile, ...fields })
  }

  async #profile({ profile = this.#options.profile, ...options }) {
    const name = profile ?? (this.#default ??= (await this.profiles(options)).default)
    return `/profiles/${encodeURIComponent(name)}`
  }

  async #call(path, { signal, timeout = this.#options.timeout } = {}, body) {
    const { url, key, headers, retries, fetch } = this.#options
    const clock = AbortSignal.timeout(timeout)
    const ends = performance.now() + timeout
    const request = {
      method: body ? 'POST' : 'GET',
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...(key && { 'X-Api-Key': key }), ...headers },
      body: body && JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, clock]) : clock
    }
    try {
      for (let attempt = 0; ; attempt++) {
        const response = await fetch(url + path, request)
        const text = await response.text()
        if (response.ok) return text ? JSON.parse(text) : undefined
        const error = failure(response, text)
        const wait = 1000 * (error.retryAfter ?? 2 ** attempt / 2)
        const { status } = response
        const again = [429, 502, 503, 504].includes(status) || (status == 500 && !attempt)
        if (!again || attempt >= retries || performance.now() + wait > ends) throw error
        await pause(wait, request.signal)
      }
    } catch (cause) {
      if (cause instanceof PassageError) throw cause
      signal?.throwIfAborted()
      throw clock.aborted
        ? new TimedOut(`No answer came within ${timeout} ms.`, { cause })
        : new NoAnswer('No answer came: offline, refused by CORS, or not the API.', { cause })
    }
  }
}

function failure(response, text) {
  let body = null
  try { body = JSON.parse(text) } catch { /* a gateway's own page */ }
  const detail = typeof body?.error == 'object' ? body.error : body
  const message = detail?.message ?? body?.error ?? `The API answered ${response.status}.`
  const { status } = response
  const Kind = KINDS[status] ?? (status < 500 ? InvalidRequest : ServerError)
  return new Kind(message, { status, code: detail?.code ?? null, retryAfter: seconds(response), body })
}

function seconds(response) {
  const value = response.headers.get('Retry-After')
  const given = isNaN(value) ? (Date.parse(value) - Date.now()) / 1000 : +value
  return value && given >= 0 ? given : null
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => { clearTimeout(timer); reject(signal.reason) }
    const timer = setTimeout(() => { signal.removeEventListener('abort', stop); resolve() }, ms)
    signal.aborted ? stop() : signal.addEventListener('abort', stop, { once: true })
  })
}
