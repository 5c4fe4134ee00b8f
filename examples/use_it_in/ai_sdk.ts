// Passage as a tool of the Vercel AI SDK. Needs OPENAI_API_KEY: node ai_sdk.ts URL QUESTION
import { openai } from '@ai-sdk/openai'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'

const [url, prompt] = process.argv.slice(2)

const passages = tool({
  description: 'Finds the passages of the documentation that answer a question, each with its URL.',
  inputSchema: z.object({ question: z.string() }),
  execute: async ({ question }) => {
    const headers = { 'Content-Type': 'application/json', Accept: 'text/plain' }
    const body = JSON.stringify({ text: question, k: 5 })
    const answer = await fetch(`${url}/profiles/context/query`, { method: 'POST', headers, body })
    return await answer.text() // an error's text helps the model, too
  }
})

const { text } = await generateText({ model: openai('gpt-5-mini'), tools: { passages }, stopWhen: stepCountIs(5), prompt })
console.log(text)
