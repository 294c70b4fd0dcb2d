import { readFileSync } from 'node:fs'

const { report_id, resolved_path } = JSON.parse(readFileSync(0, 'utf8'))
const rows = readFileSync(resolved_path, 'utf8').trim().split('\n').length - 1
process.stdout.write(JSON.stringify({ report_id, rows }))
