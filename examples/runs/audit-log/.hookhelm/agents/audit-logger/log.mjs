import { appendFileSync, readFileSync } from 'node:fs'

const { agent_name, run_id, status, parameters, result_text, error } = JSON.parse(readFileSync(0, 'utf8'))
const line = { time: new Date().toISOString(), agent_name, run_id, status, parameters, result_text, error }
appendFileSync('audit.jsonl', `${JSON.stringify(line)}\n`)
process.stdout.write('{}')
