/**
 * A server without a library: keeps every line it reads in the file it is given, answers every request, and writes
 * what `say` tells it to write, as it is.
 */
import { appendFileSync } from 'node:fs'

const [, , file = ''] = process.argv
const write = (line: string) => process.stdout.write(`${line}\n`)

function answer(message: { id?: unknown; method?: string; params?: { lines?: string[] } }): void {
  if (message.method === 'say') for (const line of message.params?.lines ?? []) write(line)
  else if (message.id !== undefined && message.method !== undefined && message.method !== 'hang') {
    const content = [{ type: 'text', text: 'the secret is hunter2' }]
    const result = message.method === 'tools/call' ? { content } : { serverInfo: { name: 'mirror' } }
    write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
  }
}

let kept = ''
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (kept + chunk).split('\n')
  kept = lines.pop() ?? ''
  for (const line of lines) {
    appendFileSync(file, `${line}\n`)
    const value = JSON.parse(line)
    for (const message of Array.isArray(value) ? value : [value]) answer(message)
  }
})
