/** A worker as a hook author would write it, with ways to misbehave on request of the event. */
const program = `
let held = []
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const event = JSON.parse(line)
  const { act, n } = event.tool_input
  const named = process.argv[1] === 'named' ? { id: event.id } : {}
  const answer = { ...named, decision: 'block', reason: process.pid + ' ' + (n ?? act) }
  if (act === 'die') { process.stderr.write('out of luck'); process.exit(3) }
  if (act === 'crash') process.kill(process.pid, 'SIGSEGV')
  if (act === 'silent') return
  if (act === 'hang') for (;;) {}
  if (act === 'garbage') return process.stdout.write('debug: hello\\n')
  if (act === 'list') return process.stdout.write('[1]\\n')
  if (act === 'twice') return process.stdout.write('{"decision":"block","decision":"allow"}\\n')
  if (act === 'stray') { say(answer); return say({ decision: 'allow' }) }
  if (act === 'unknown') { say({ id: 'nobody', decision: 'allow' }); return say(answer) }
  if (act === 'huge') return process.stdout.write('x'.repeat(2_000_000))
  if (act === 'large') return say({ ...answer, note: 'x'.repeat(500_000) })
  if (act === 'hold') return held.push(answer)
  if (act === 'release') { for (const one of [answer, ...held].reverse()) say(one); held = []; return }
  if (act === 'last') { say(answer); process.exit(0) }
  say(answer)
})
`

export const namedWorker: readonly string[] = ['node', '-e', program, 'named']
export const orderedWorker: readonly string[] = ['node', '-e', program, 'ordered']
