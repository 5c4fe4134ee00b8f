// Asks each profile with a client that openapi-typescript writes. tsc --strict checks it, Node runs it: node ask.ts URL
import createClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'

const client = createClient<paths>({ baseUrl: process.argv[2] })
const question = 'What is a digital twin?'

const { data, response } = await client.POST('/query', { body: { text: question } })
const first: string | undefined = data?.results[0].url
const others = [
  await client.POST('/profiles/query-response/query', { body: { text: question, k: 2, filters: { language: ['en', 'de'] } } }),
  await client.POST('/profiles/vector-search/query', { body: { query_text: question, with_vectors: null } }),
  await client.POST('/profiles/context/query', { body: { text: question, max_tokens: 500 } }),
  await client.POST('/profiles/ranked/query', { body: { text: question, titles: true } }),
  await client.POST('/profiles/chunks/query', { body: { query_text: question, threshold: null } }),
  await client.GET('/query', { params: { query: { text: question, k: 1 } } })
]

console.log(JSON.stringify([response.status, ...others.map((other) => other.response.status), first]))
