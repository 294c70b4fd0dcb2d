/** An agent loop of your own, guarded by hooks. The model is a script, so that it runs anywhere. */
// In your own program: from 'hookhelm'
import { ask, block, createHooks, rewrite } from '../src/index.ts'

const hooks = createHooks({ log: (name, fields) => console.error(name, fields) })

hooks.on('pre_tool_use', { id: 'workspace', matcher: 'write_file(/etc/*)' }, () =>
  block('outside the workspace', 'Write below the workspace only.'),
)
hooks.on('pre_tool_use', { id: 'deploys', matcher: '^deploy$' }, () => ask('a deploy needs a person'))
hooks.on('post_tool_use', { id: 'redact', transform: true }, ({ tool_response }) =>
  rewrite(String(tool_response).replace(/key-\w+/g, '[redacted]')),
)
hooks.on('stop', { id: 'tests-first' }, () => (tested ? undefined : block('run the tests before you stop')))

let tested = false
const tools: Record<string, (input: Record<string, unknown>) => string> = {
  read_file: ({ path }) => `${path}: token=key-4711`,
  write_file: ({ path }) => `wrote ${path}`,
  deploy: () => 'deployed',
  run_tests: () => {
    tested = true
    return 'all green'
  },
}

/** What the model wants next; `undefined` means it is done. */
const script = [
  { tool: 'read_file', input: { path: 'config.ini' } },
  { tool: 'write_file', input: { path: '/etc/passwd' } },
  { tool: 'deploy', input: {} },
  undefined,
  { tool: 'run_tests', input: {} },
  undefined,
]

for (const step of script) {
  if (step === undefined) {
    const stop = await hooks.dispatch('stop', {}, { session: 'demo' })
    console.log(stop.kind === 'block' ? `goes on: ${stop.message}` : 'done')
    continue
  }
  console.log(`${step.tool}: ${await call(step.tool, step.input)}`)
}

/** One guarded tool call; answers what the model gets to see. */
async function call(tool_name: string, given: Record<string, unknown>): Promise<string> {
  const before = await hooks.dispatch('pre_tool_use', { tool_name, tool_input: given }, { session: 'demo' })
  // Nobody is here to be asked, and an unanswered question means no.
  if (before.kind !== 'allow') return `refused (${before.kind}): ${before.message}`
  const tool_input = before.input ?? given
  const tool_response = tools[tool_name]?.(tool_input) ?? `there is no tool ${tool_name}`
  const after = await hooks.dispatch('post_tool_use', { tool_name, tool_input, tool_response })
  return String(after.input ?? tool_response)
}
