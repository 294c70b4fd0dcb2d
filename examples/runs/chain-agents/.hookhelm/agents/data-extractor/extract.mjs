// The parameters of the run come as JSON on stdin; the result goes to stdout.
import { readFileSync } from 'node:fs'

const { source } = JSON.parse(readFileSync(0, 'utf8'))
const [head, ...lines] = readFileSync(source, 'utf8').trim().split('\n')
const columns = head.split(',')
const records = lines.map((line) => {
  const cells = line.split(',')
  return Object.fromEntries(columns.map((column, index) => [column, cells[index]]))
})
process.stdout.write(JSON.stringify({ records, source }))
