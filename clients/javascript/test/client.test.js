// The client against a server that answers as told, and against `passage serve` where PASSAGE_URL names one.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, beforeEach, describe, test } from 'node:test'
import * as client from '../passage-client.js'

const { Passage, PassageError, InvalidRequest, NotFound, NoAnswer, RateLimited, TimedOut, Unavailable } = client
const ERROR = { error: 'Wait.', code: 'SERVICE_UNAVAILABLE', timestamp: '2026-01-01T00:00:00Z' }

let server, endpoint, plan, requests

before(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', part => { body += part })
    request.on('end', () => {
      requests.push({ method: request.method, path: request.url, headers: request.headers, body })
      const { status = 200, headers = {}, text, json = {}, never } = plan.length > 1 ? plan.shift() : plan[0]
      if (never) return
      response.writeHead(status, headers).end(text ?? JSON.stringify(json))
    })
  }).listen(0, '127.0.0.1')
  await new Promise(ready => server.once('listening', ready))
  endpoint = `http://127.0.0.1:${server.address().port}/live`
})
after(() => { server.close(); server.closeAllConnections() })
beforeEach(() => { plan = [{}]; requests = [] })

describe('requests', () => {
  test('text is sent as `question`, beside the fields', async () => {
    await new Passage({ endpoint, key: 'k1', headers: { 'X-Site': 'docs' } }).ask('What?', { k: 3, timeout: 5000 })
    const [{ method, path, headers, body }] = requests
    assert.deepEqual([method, path, JSON.parse(body)], ['POST', '/live/query', { titles: true, question: 'What?', k: 3 }])
    assert.equal(headers['x-api-key'], 'k1')
    assert.equal(headers['x-site'], 'docs')
    assert.equal(headers['content-type'], 'application/json')
  })

  test('a profile is part of the path, encoded', async () => {
    const passage = new Passage({ endpoint: `${endpoint}//`, profile: 'a b' })
    await passage.ask({ text: 'What?' })
    await passage.ask('What?', { profile: 'ranked' })
    await passage.chunk('1/2_0', { withVectors: true })
    await passage.collection()
    assert.deepEqual(requests.map(({ path }) => path), [
      '/live/profiles/a%20b/query', '/live/profiles/ranked/query',
      '/live/profiles/a%20b/chunks/1%2F2_0?with_vectors=true', '/live/profiles/a%20b/collection'
    ])
    assert.equal(requests[3].headers['content-type'], undefined)
  })

  test('without a profile, chunks are those of the default one, asked for once', async () => {
    plan = [{ json: { default: 'context', profiles: [] } }, {}]
    const passage = new Passage({ endpoint })
    await passage.chunk(7)
    await passage.collection()
    assert.deepEqual(requests.map(({ path }) => path), [
      '/live/profiles', '/live/profiles/context/chunks/7', '/live/profiles/context/collection'
    ])
  })

  test('feedback names the profile and resolves to nothing', async () => {
    plan = [{ status: 204, text: '' }]
    const url = 'https://docs.example/twins/'
    assert.equal(await new Passage({ endpoint, profile: 'ranked' }).feedback({ url, helpful: false }), undefined)
    assert.deepEqual(JSON.parse(requests[0].body), { profile: 'ranked', url, helpful: false })
  })
})

test('a client without an endpoint says so', () => {
  for (const options of [undefined, {}, { url: endpoint }]) assert.throws(() => new Passage(options), /endpoint/)
})

describe('retries', () => {
  for (const status of [429, 500, 502, 503, 504]) {
    test(`${status} is tried again after Retry-After`, async () => {
      plan = [{ status, headers: { 'Retry-After': '0.05' }, json: ERROR }, { json: { k: 1 } }]
      assert.deepEqual(await new Passage({ endpoint }).ask('What?'), { k: 1 })
      assert.equal(requests.length, 2)
    })
  }

  test('the last error is thrown, with its seconds', async () => {
    plan = [{ status: 429, headers: { 'Retry-After': '0' }, json: ERROR }]
    const error = await thrown(new Passage({ endpoint, retries: 1 }).ask('What?'))
    assert(error instanceof RateLimited)
    assert.deepEqual([error.status, error.code, error.retryAfter, error.message], [429, ERROR.code, 0, 'Wait.'])
    assert.equal(requests.length, 2)
  })

  test('a wait beyond the timeout is not begun', async () => {
    plan = [{ status: 503, headers: { 'Retry-After': '600' }, json: ERROR }]
    const error = await thrown(new Passage({ endpoint }).ask('What?', { timeout: 5000 }))
    assert(error instanceof Unavailable)
    assert.equal(error.retryAfter, 600)
    assert.equal(requests.length, 1)
  })

  test('Retry-After as a date is read', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString()
    plan = [{ status: 503, headers: { 'Retry-After': date }, json: ERROR }]
    const { retryAfter } = await thrown(new Passage({ endpoint }).ask('What?'))
    assert(retryAfter > 3500 && retryAfter <= 3600)
  })

  for (const status of [400, 404, 501]) {
    test(`${status} is not tried again`, async () => {
      plan = [{ status, json: ERROR }]
      assert.equal((await thrown(new Passage({ endpoint }).ask('What?'))).status, status)
      assert.equal(requests.length, 1)
    })
  }
})

describe('errors', () => {
  const classes = {
    400: 'InvalidRequest', 401: 'Forbidden', 403: 'Forbidden', 404: 'NotFound', 405: 'InvalidRequest',
    408: 'TimedOut', 413: 'InvalidRequest', 429: 'RateLimited', 500: 'ServerError', 502: 'Unavailable',
    503: 'Unavailable', 504: 'TimedOut'
  }
  for (const [status, name] of Object.entries(classes)) {
    test(`${status} is ${name}`, async () => {
      plan = [{ status: +status, json: { error: { code: 'X', message: 'Nested.' } } }]
      const error = await thrown(new Passage({ endpoint, retries: 0 }).ask('What?'))
      assert(error instanceof client[name] && error instanceof PassageError)
      assert.equal(error.name, name)
      assert.deepEqual([error.code, error.message], ['X', 'Nested.'])
    })
  }

  test("a gateway's own error keeps its message", async () => {
    plan = [{ status: 403, json: { message: 'Forbidden' } }]
    const error = await thrown(new Passage({ endpoint }).ask('What?'))
    assert.deepEqual([error.message, error.code], ['Forbidden', null])
  })

  test('an error page in HTML has the status in its message', async () => {
    plan = [{ status: 502, text: '<html>Bad Gateway</html>' }]
    const error = await thrown(new Passage({ endpoint, retries: 0 }).ask('What?'))
    assert.deepEqual([error.message, error.body], ['The API answered 502.', null])
  })

  test('a page instead of JSON is NoAnswer', async () => {
    plan = [{ text: '<!doctype html>' }]
    assert(await thrown(new Passage({ endpoint }).ask('What?')) instanceof NoAnswer)
  })

  test('a refused connection is NoAnswer, with its cause', async () => {
    const error = await thrown(new Passage({ endpoint: 'http://127.0.0.1:1' }).ask('What?'))
    assert(error instanceof NoAnswer)
    assert(error.cause)
  })
})

describe('ends', () => {
  test('no answer within the timeout is TimedOut', async () => {
    plan = [{ never: true }]
    assert(await thrown(new Passage({ endpoint, timeout: 50 }).ask('What?')) instanceof TimedOut)
  })

  test('an abort rejects with the signal’s reason', async () => {
    plan = [{ never: true }]
    const controller = new AbortController()
    const asked = thrown(new Passage({ endpoint }).ask('What?', { signal: controller.signal }))
    controller.abort(new Error('left the page'))
    assert.equal((await asked).message, 'left the page')
  })

  test('an abort ends the wait for a retry', async () => {
    plan = [{ status: 429, headers: { 'Retry-After': '20' }, json: ERROR }]
    const controller = new AbortController()
    const asked = thrown(new Passage({ endpoint }).ask('What?', { signal: controller.signal }))
    while (!requests.length) await new Promise(setImmediate)
    setTimeout(() => controller.abort(), 20)
    assert.equal((await asked).name, 'AbortError')
    assert.equal(requests.length, 1)
  })
})

describe('passage serve', { skip: !process.env.PASSAGE_URL && 'PASSAGE_URL names no API' }, () => {
  const live = options => new Passage({ endpoint: process.env.PASSAGE_URL, ...options })

  test('every profile is asked, and its first chunk read', async () => {
    const { profiles } = await live().profiles()
    assert(profiles.length >= 5)
    for (const { name, contract } of profiles) {
      const passage = live({ profile: name })
      const answer = await passage.ask('What is a digital twin?', { k: 3 })
      const [first] = answer.results ?? answer.chunks
      const chunk = await passage.chunk(first.chunk_id ?? first.id)
      assert(chunk.payload, contract)
      assert((await passage.collection()).points_count > 0)
      await passage.feedback({ url: 'https://docs.example/', helpful: true, chunk_id: first.chunk_id ?? first.id })
    }
  })

  test('a blank question and an unknown chunk are told apart', async () => {
    assert(await thrown(live().ask(' ')) instanceof InvalidRequest)
    assert(await thrown(live().chunk('999999999999')) instanceof NotFound)
    assert(await thrown(live({ profile: 'nowhere' }).ask('What?')) instanceof NotFound)
  })
})

async function thrown(promise) {
  try {
    await promise
  } catch (error) {
    return error
  }
  assert.fail('nothing was thrown')
}
