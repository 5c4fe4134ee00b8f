// Connects, lists, calls and fails with one client of MCP: node ask_mcp.mjs CLIENT URL. Prints what it got as JSON.
import { fileURLToPath } from 'node:url'
import { createMCPClient } from '@ai-sdk/mcp'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [name, url] = process.argv.slice(2)
const question = { question: 'What is a digital twin?', top_k: 1, search: null }
const missing = { id: 'nothing' }
const text = result => result.content[0].text

async function throughSdk(transport) {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  const { tools } = await client.listTools()
  const answer = await client.callTool({ name: 'search_docs', arguments: question })
  const failed = await client.callTool({ name: 'fetch', arguments: missing })
  await client.close()
  return { tools: tools.map(tool => tool.name), answer: text(answer), error: failed.isError && text(failed) }
}

async function throughAi() {
  const client = await createMCPClient({ transport: { type: 'http', url } })
  const tools = await client.tools()
  const call = (tool, given) => tools[tool].execute(given, { toolCallId: '1', messages: [] })
  const answer = await call('search_docs', question)
  const failed = await call('fetch', missing)
  await client.close()
  return { tools: Object.keys(tools), answer: text(answer), error: failed.isError && text(failed) }
}

const remote = () => {
  const proxy = fileURLToPath(import.meta.resolve('./node_modules/mcp-remote/dist/proxy.js'))
  const args = [proxy, url, '--allow-http', '--transport', 'http-only']
  return new StdioClientTransport({ command: process.execPath, args, env: process.env, stderr: 'ignore' })
}

const clients = {
  'typescript-sdk': () => throughSdk(new StreamableHTTPClientTransport(new URL(url))),
  'mcp-remote': () => throughSdk(remote()),
  'ai-sdk': throughAi,
}
console.log(JSON.stringify(await clients[name]()))
