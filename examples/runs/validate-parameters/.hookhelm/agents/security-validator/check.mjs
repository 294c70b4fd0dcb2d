import { readFileSync } from 'node:fs'

const { parameters, agent_name } = JSON.parse(readFileSync(0, 'utf8'))
const isRead = /^\s*select\b[^;]*$/i.test(parameters.sql)
const answer = isRead
  ? { action: 'continue' }
  : { action: 'block', block_reason: `${agent_name} may only read: one SELECT without a semicolon.` }
process.stdout.write(JSON.stringify(answer))
