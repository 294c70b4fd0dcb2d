import type { HookInput } from '../../stored-hooks/saving/hook-input.ts'

/** The name of the hook that fails until its breaker switches it off. */
export const TRIPPING_HOOK = 'demo: lint every edit'

const noForcedPushes = script('demo: no forced pushes', {
  event: 'pre_tool_use',
  description: 'Blocks one command by its pattern.',
  matcher: 'Bash(git push --force*)',
  priority: 50,
  source: `function handle() {
  return {
    decision: 'block',
    reason: 'Forced pushes rewrite the history of others.',
    message: 'Push without --force.',
  }
}`,
})

const askBeforeProduction = script('demo: ask before production', {
  event: 'pre_tool_use',
  description: 'Asks a person before a command changes production.',
  match: {
    command: [
      { program: 'terraform', subcommand: 'apply' },
      { program: 'kubectl', args: ['*prod*'] },
      { program: '*', args: ['--env', 'production'] },
    ],
  },
  priority: 30,
  source: `function handle() {
  return { decision: 'ask', reason: 'This changes production.' }
}`,
})

const mainHooks: readonly HookInput[] = [
  script('demo: house rules', {
    event: 'session_start',
    description: 'Adds a note for the model at the start of each session.',
    transform: true,
    source: `function handle() {
  return { decision: 'allow', additionalContext: 'Run the tests before you say that you are done.' }
}`,
  }),
  noForcedPushes,
  script('demo: no recursive deletes', {
    event: 'pre_tool_use',
    description: 'Blocks by a condition in CEL on what the command does.',
    matcher: '^Bash$',
    if_expr: 'shell.commands.exists(c, c.program == "rm" && "r" in c.flags && "f" in c.flags)',
    priority: 40,
    source: `function handle() {
  return { decision: 'block', reason: 'Delete files one by one, by name.' }
}`,
  }),
  script('demo: secrets stay unread', {
    event: 'pre_tool_use',
    description: 'Keeps files with secrets out of the conversation, with a tool or in a shell.',
    match: { names: ['Read(*.env)', 'Write(*.env)'] },
    priority: 40,
    source: `function handle() {
  return { decision: 'block', reason: 'Files named .env are not for agents.' }
}`,
  }),
  askBeforeProduction,
  script('demo: tests get a time limit', {
    event: 'pre_tool_use',
    description: 'Rewrites the input: the tool gets another one than the agent asked for.',
    matcher: 'Bash(npm test*)',
    priority: 20,
    source: `function handle(event) {
  return { decision: 'allow', updatedInput: { ...event.tool_input, timeout: 120000 } }
}`,
  }),
  script('demo: publish as a dry run', {
    event: 'pre_tool_use',
    description: 'Rewrites the input.',
    matcher: 'Bash(npm publish*)',
    priority: 20,
    source: `function handle(event) {
  return {
    decision: 'allow',
    updatedInput: { ...event.tool_input, command: event.tool_input.command + ' --dry-run' },
  }
}`,
  }),
  script('demo: check the licence of packages', {
    event: 'pre_tool_use',
    description: 'Fails for each new package. Its policy lets the call pass, and the decision says so.',
    matcher: 'Bash(npm install*)',
    on_error: 'allow',
    source: `function handle() {
  throw new Error('the list of licences is out of date')
}`,
  }),
  script('demo: no downloads (on trial)', {
    event: 'pre_tool_use',
    description: 'A shadow hook: what it would have decided is recorded, and changes nothing.',
    match: { names: ['WebFetch', 'Bash(curl *)'] },
    shadow: true,
    source: `function handle() {
  return { decision: 'block', reason: 'Downloads need a review.' }
}`,
  }),
  script(TRIPPING_HOOK, {
    event: 'post_tool_use',
    description: 'Fails for every edit. After five failures in a row the breaker switches it off.',
    matcher: '^Edit$',
    transform: true,
    source: `function handle(event) {
  return lint(event.tool_input.file_path)
}`,
  }),
  script('demo: remind of the tests', {
    event: 'post_tool_use',
    description: 'Adds a note for the model, at most once in ten minutes.',
    matcher: '^Edit$',
    transform: true,
    cooldown_ms: 600_000,
    source: `function handle() {
  return { decision: 'allow', additionalContext: 'The tests have not run since this edit.' }
}`,
  }),
  script('demo: session report', {
    event: 'session_end',
    description: 'An observer: it runs after the answer, as a delivery.',
    source: `function handle(event) {
  console.log('session ' + event.session_id + ' ended')
  return { decision: 'allow' }
}`,
  }),
]

/** The stored hooks of each tenant of the demo. All are scripts: they need no model, no network and no program. */
export const demoHooks = { main: mainHooks, partner: [noForcedPushes, askBeforeProduction] } as const

function script(
  name: string,
  { source, ...fields }: Omit<HookInput, 'config' | 'name'> & { readonly source: string },
): HookInput {
  return { name, handler_type: 'script', scope: 'tenant', config: { source }, ...fields }
}
