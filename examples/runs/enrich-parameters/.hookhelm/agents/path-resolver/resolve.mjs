import { existsSync, readFileSync } from 'node:fs'

const { parameters } = JSON.parse(readFileSync(0, 'utf8'))
// A file name, never a path that the caller made up.
const resolved_path = `reports/${parameters.report_id.replace(/\W/g, '')}.csv`
const answer = existsSync(resolved_path)
  ? { action: 'continue', parameters: { ...parameters, resolved_path } }
  : { action: 'block', block_reason: `There is no report ${parameters.report_id}.` }
process.stdout.write(JSON.stringify(answer))
