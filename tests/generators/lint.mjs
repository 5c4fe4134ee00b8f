// Prints the errors that Redocly's recommended rules find in a document: node lint.mjs DOCUMENT
import { createConfig, lint } from '@redocly/openapi-core'

const found = await lint({ ref: process.argv[2], config: await createConfig({ extends: ['recommended'] }) })
console.log(JSON.stringify(found.filter(({ severity }) => severity === 'error').map(({ ruleId, message }) => `${ruleId}: ${message}`)))
