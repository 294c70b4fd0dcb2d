interface DemoEvent {
  readonly kind: 'event'
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
  /** The sub-agent that takes the step. */
  readonly lane?: string
}

/** A tool call. It has a second event, after the call, if the hooks let it run. */
export interface DemoCall {
  readonly kind: 'call'
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** What the tool returns. */
  readonly output: string
  readonly lane?: string
  /** The user says yes if a hook asks. */
  readonly isApproved?: true
}

/** One step of a scripted agent. */
export type DemoStep = DemoEvent | DemoCall

/** A session of a scripted agent. Its steps are spread evenly over its time. */
export interface DemoSession {
  readonly id: string
  readonly agent: 'claude-code' | 'codex' | 'gemini-cli'
  readonly folder: string
  readonly startedMinutesAgo: number
  readonly endedMinutesAgo: number
  readonly steps: readonly DemoStep[]
}

const EXPLORER = 'demo-explorer'

const shopApi: DemoSession = {
  id: 'demo-claude-shop-api',
  agent: 'claude-code',
  folder: '/home/dev/shop-api',
  startedMinutesAgo: 52,
  endedMinutesAgo: 4,
  steps: [
    event('session_start', { source: 'startup', model: 'scripted' }),
    prompt('The cart forgets its items after a login. Find out why and fix it.'),
    call('Grep', { pattern: 'mergeCart', path: 'src' }, 'src/cart/merge.ts\nsrc/login/session.ts'),
    call('Read', { file_path: '/home/dev/shop-api/src/cart/merge.ts' }, 'export function mergeCart() { … }'),
    call('Read', { file_path: '/home/dev/shop-api/.env' }, 'CART_URL=…'),
    event('pre_tool_use', {
      tool_name: 'Task',
      tool_input: { description: 'Find every caller of mergeCart', subagent_type: 'Explore' },
    }),
    event('subagent_start', { agent_type: 'Explore', agent_id: EXPLORER }),
    ...[
      call('Grep', { pattern: 'mergeCart\\(' }, '4 matches'),
      call('Read', { file_path: '/home/dev/shop-api/src/login/session.ts' }, '…'),
      call('Bash', { command: 'rm -rf node_modules/.cache' }, ''),
      call('Bash', { command: 'git log --oneline -5 src/login' }, '4f1c2aa keep the session'),
      event('subagent_stop', { agent_type: 'Explore', agent_id: EXPLORER }),
    ].map(byExplorer),
    event('post_tool_use', {
      tool_name: 'Task',
      tool_input: { description: 'Find every caller of mergeCart', subagent_type: 'Explore' },
      tool_response: 'The login calls mergeCart before the cart is loaded.',
    }),
    ...['src/login/session.ts', 'src/cart/merge.ts', 'src/cart/merge.test.ts'].map(edit),
    call('Bash', { command: 'npm test -- cart' }, '12 passed'),
    event('pre_compact', { trigger: 'auto' }),
    event('post_compact', { trigger: 'auto', compact_summary: 'The cart is merged after the login.' }),
    prompt('Good. Add a test for guests, then push it.'),
    ...['src/cart/guest.test.ts', 'src/cart/guest.ts', 'src/cart/merge.ts'].map(edit),
    call('Bash', { command: 'npm test' }, '48 passed'),
    call('Bash', { command: 'git commit -am "Merge the cart after the login"' }, '[fix-cart 9d2e1b0]'),
    call('Bash', { command: 'git push --force origin fix-cart' }, ''),
    call('Bash', { command: 'git push origin fix-cart' }, 'fix-cart -> fix-cart'),
    event('stop', { stop_reason: 'end_turn' }),
    event('session_end', { reason: 'logout' }),
  ],
}

const billing: DemoSession = {
  id: 'demo-codex-billing',
  agent: 'codex',
  folder: '/home/dev/billing',
  startedMinutesAgo: 38,
  endedMinutesAgo: 9,
  steps: [
    event('session_start', { source: 'startup', model: 'scripted' }),
    prompt('Round amounts to the cent, and release a new version.'),
    call('Bash', { command: 'rg "toFixed" src' }, 'src/amount.ts:12'),
    call('Bash', { command: 'npm install decimal.js' }, 'added 1 package'),
    edit('src/amount.ts'),
    call('Bash', { command: 'npm test' }, '91 passed'),
    call('Bash', { command: 'npm install big-rounding' }, 'added 1 package'),
    call('Bash', { command: 'curl https://rates.example/latest.json' }, '{"eur":1}'),
    prompt('Now publish it.'),
    call('Bash', { command: 'npm version patch' }, 'v2.4.1'),
    call('Bash', { command: 'npm publish' }, '+ billing@2.4.1 (dry run)'),
    call('Bash', { command: 'git push --force --tags' }, ''),
    event('stop', { stop_reason: 'end_turn' }),
    event('session_end', { reason: 'exit' }),
  ],
}

const infra: DemoSession = {
  id: 'demo-gemini-infra',
  agent: 'gemini-cli',
  folder: '/home/dev/infra',
  startedMinutesAgo: 24,
  endedMinutesAgo: 0,
  steps: [
    event('session_start', { source: 'startup', model: 'scripted' }),
    prompt('Give the queue workers more memory.'),
    call('Read', { file_path: '/home/dev/infra/workers.tf' }, 'memory = 512'),
    edit('workers.tf'),
    call('Bash', { command: 'terraform plan' }, '1 to change'),
    { ...call('Bash', { command: 'terraform apply' }, 'Apply complete'), isApproved: true },
    call('WebFetch', { url: 'https://status.example/workers' }, 'all workers are up'),
    prompt('The old workers are still there.'),
    call('Bash', { command: 'kubectl delete pod worker-1 --context prod' }, ''),
    call('Bash', { command: 'rm -rf /var/lib/workers' }, ''),
    call('Bash', { command: 'kubectl get pods' }, 'worker-2 Running'),
  ],
}

const partner: DemoSession = {
  id: 'demo-partner-codex',
  agent: 'codex',
  folder: '/home/dev/partner-portal',
  startedMinutesAgo: 15,
  endedMinutesAgo: 1,
  steps: [
    event('session_start', { source: 'startup', model: 'scripted' }),
    prompt('Bring the branch up to date.'),
    call('Bash', { command: 'git rebase main' }, 'Successfully rebased'),
    call('Bash', { command: 'git push --force' }, ''),
    call('Bash', { command: 'npm run deploy -- --env production' }, ''),
    event('stop', { stop_reason: 'end_turn' }),
  ],
}

/** What the scripted agents of each tenant do. */
export const demoSessions = { main: [shopApi, billing, infra], partner: [partner] } as const

function event(name: string, payload: Readonly<Record<string, unknown>>): DemoEvent {
  return { kind: 'event', event: name, payload }
}

function prompt(text: string): DemoStep {
  return event('user_prompt_submit', { prompt: text })
}

function call(tool: string, input: Readonly<Record<string, unknown>>, output: string): DemoCall {
  return { kind: 'call', tool, input, output }
}

function byExplorer(step: DemoStep): DemoStep {
  return { ...step, lane: EXPLORER }
}

function edit(file: string): DemoStep {
  return call('Edit', { file_path: file, old_string: 'before', new_string: 'after' }, 'edited')
}
