/** The engine in a minute: six hooks, six tool calls, and for each call the decision and why. `node examples/demo.ts` runs it. */
import { styleText } from 'node:util'
// In your own program: from 'hookhelm'
import { block, createHooks, type Decision, rewrite, type TraceHook } from '../src/index.ts'

const hooks = createHooks()

// A gate. `locked` puts it first, and no rewrite by a later hook can carry anything past it.
hooks.on('pre_tool_use', { id: 'no-rm', matcher: 'Bash(rm -rf*)', locked: true }, () =>
  block('rm -rf is never run here', 'Delete files one by one, by name.'),
)

// A rewrite: the tool gets another input than the agent asked for.
hooks.on('pre_tool_use', { id: 'dry-run', matcher: 'Bash(npm publish*)' }, ({ tool_input }) =>
  rewrite({ ...tool_input, command: `${tool_input.command} --dry-run` }),
)

// A rewrite gone wrong: it brings in what the locked hook forbids, so that hook is asked about the new input.
hooks.on('pre_tool_use', { id: 'cleaner', matcher: 'Bash(make clean*)' }, ({ tool_input }) =>
  rewrite({ ...tool_input, command: 'rm -rf build' }),
)

// A hook that never answers. A gate fails closed; `on_timeout: 'allow'` would open it, and the decision would say so.
const never = new Promise<undefined>(() => {})
hooks.on('pre_tool_use', { id: 'slow-scan', matcher: '^WebFetch$', timeout_ms: 100 }, () => never)

// A hook on trial: what it would have decided is recorded, and changes nothing.
hooks.on('pre_tool_use', { id: 'on-trial', matcher: '^Read$', shadow: true }, ({ tool_input }) =>
  String(tool_input.file_path).endsWith('.env') ? block('secrets stay unread') : undefined,
)

// An observer: told after the tool ran, and nobody waits for it.
const seen: string[] = []
hooks.on('post_tool_use', { id: 'observer' }, ({ tool_name }) => {
  seen.push(tool_name)
})

const calls = [
  ['Bash', { command: 'ls -la' }],
  ['Bash', { command: 'cd /tmp && sudo rm -rf cache' }],
  ['Bash', { command: 'npm publish' }],
  ['Bash', { command: 'make clean' }],
  ['WebFetch', { url: 'https://example.com' }],
  ['Read', { file_path: '.env' }],
] as const

console.log('An agent asks to call six tools. Five hooks listen to pre_tool_use, one to post_tool_use.')
for (const [tool_name, tool_input] of calls) {
  console.log(`\n${bold(`${tool_name}  ${Object.values(tool_input)[0]}`)}`)
  const decision = await hooks.dispatch('pre_tool_use', { tool_name, tool_input }, {}, { trace: true })
  print(decision)
  if (decision.kind !== 'allow') continue
  await hooks.dispatch('post_tool_use', { tool_name, tool_input, tool_response: 'ok' })
}
await hooks.drain()
console.log(`\nThe observer was told of what ran: ${seen.join(', ')}.`)
console.log('Read on: README.md, examples/own-loop.ts, docs/lifecycle.md')

function print({ kind, by, reason, code, message, steps, trace }: Decision): void {
  line('decision', `${coloured(kind)}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`)
  if (code) line('code', code)
  if (message !== reason) line('to model', message ?? '')
  for (const { hook, before, after } of steps ?? []) {
    line('rewrite', `${hook}: ${command(before)} → ${command(after)}`)
  }
  const all = trace?.hooks ?? []
  const ran = all.filter((hook) => hook.executions.length > 0)
  const why = ran.length > 0 ? ran : all
  for (const [index, hook] of why.entries()) {
    line(index === 0 ? 'why' : '', `${hook.hook.padEnd(10)} ${became(hook)}`)
  }
  if (ran.length > 0) line('', dim(`${all.length - ran.length} others were not asked`))
}

/** What became of one hook, as the trace tells it. */
function became({ matched, because, executions }: TraceHook): string {
  if (!matched) return dim(because ?? 'does not match')
  return executions
    .map(({ decision, shadow, recheck, reason }) => {
      const when = shadow ? 'would have said ' : recheck ? 'asked about the new input: ' : ''
      return `${when}${coloured(decision)}${shadow && reason ? `: ${reason}` : ''}`
    })
    .join(', then ')
}

function command(input: unknown): string {
  return typeof input === 'object' && input !== null && 'command' in input ? String(input.command) : ''
}

function line(label: string, text: string): void {
  console.log(`  ${dim(label.padEnd(9))} ${text}`)
}

// styleText leaves colours out unless stdout is a terminal, and obeys NO_COLOR.
function bold(text: string): string {
  return styleText('bold', text)
}

function dim(text: string): string {
  return styleText('dim', text)
}

function coloured(kind: string): string {
  return styleText(kind === 'allow' ? 'green' : kind === 'ask' ? 'yellow' : 'red', kind)
}
