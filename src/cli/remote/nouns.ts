import type { SubCommandsDef } from 'citty'

const nouns = [
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

/** Loaded when one is called: commands that need no gateway start without its code. */
export const remoteCommands: SubCommandsDef = {
  ...Object.fromEntries(
    nouns.map((noun) => [noun, async () => (await import('./noun-command.ts')).nounCommand(noun)]),
  ),
  status: async () => (await import('./noun-command.ts')).singleCommand('status'),
}
