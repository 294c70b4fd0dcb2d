import type { SubCommandsDef } from 'citty'

/** The nouns of the method table, written here so that `--help` does not load the gateway. A test compares both. */
export const nouns = [
  'hooks',
  'executions',
  'events',
  'sessions',
  'budgets',
  'tenants',
  'tokens',
  'secrets',
  'providers',
  'settings',
  'deliveries',
  'audit',
]

/** Each command loads the gateway's code only when it runs. */
export const remoteCommands: SubCommandsDef = {
  ...Object.fromEntries(
    nouns.map((noun) => [noun, async () => (await import('./noun-command.ts')).nounCommand(noun)]),
  ),
  status: async () => (await import('./noun-command.ts')).singleCommand('status'),
}
