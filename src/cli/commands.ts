import type { SubCommandsDef } from 'citty'

type LoadedCommand = SubCommandsDef[string]

/** A row of the command table. Help, completion and the docs read it without loading the command. */
export interface CommandRow {
  readonly name: string
  readonly about: string
  /** The most important arguments, for the docs; `--help` lists all of them. */
  readonly usage?: string
  /** Its subcommands are methods of the gateway. */
  readonly isRemote?: true
  /** The subcommands, in the order that help lists them. */
  readonly verbs?: readonly string[]
  /** Those of its subcommands that are no methods of the gateway. */
  readonly localVerbs?: readonly string[]
  /** Methods whose command has another name, and that name: `list` in place of `hooks list`. */
  readonly replaced?: Readonly<Record<string, string>>
  /** A former name with the same meaning. Help does not list it. */
  readonly alias?: string
  /** Absent for `completion`, which the entry answers from this table. */
  readonly load?: () => Promise<LoadedCommand>
}

/** Every command of `hookhelm`. A command's code loads when the command runs. */
export const commands: readonly CommandRow[] = [
  {
    name: 'up',
    about: 'Start the gateway: HTTP, WebSocket and a local socket, with an embedded database',
    usage: '[--port n] [--database url]',
    load: async () => (await import('./gateway/up.ts')).upCommand,
  },
  {
    name: 'runner',
    about: 'Execute runs of agents: poll a gateway, run commands, models and coding agents, report results',
    usage: '[--profile p -- <command>] [--profile p --profiles file] [--tags a,b]',
    load: async () => (await import('./runs/runner.ts')).runnerCommand,
  },
  {
    name: 'init',
    about: 'Write a hook file with three working examples, and starter packs',
    usage: '[--packs names] [--yes]',
    load: async () => (await import('./packs/init.ts')).initCommand,
  },
  {
    name: 'add',
    about: 'Add a starter pack to the hook file: destructive commands, forced pushes, secrets, …',
    usage: '<pack …> [--decision ask|block] [--shadow] [--list] [--remove]',
    load: async () => (await import('./packs/add.ts')).addCommand,
  },
  {
    name: 'validate',
    about: 'Check hook files: list every problem with its position, and what connected agents cannot enforce',
    usage: '[file …] [--agent a]',
    load: async () => (await import('./hooks/validate.ts')).validateCommand,
  },
  {
    name: 'list',
    about:
      'List the hooks in force: the chain of each event, where each hook comes from, and what keeps it from running',
    usage: '[event] [--agent a] [--folder dir]',
    load: async () => (await import('./hooks/list.ts')).listCommand,
  },
  {
    name: 'test',
    about: 'Run one hook of a file or of the gateway on its own: does it match, and what does it answer',
    usage: "[hook] [--file hook.yaml] --tool t --input '{…}'",
    load: async () => (await import('./hooks/test.ts')).testCommand,
  },
  {
    name: 'dispatch',
    about: 'Send an event through the hooks and print the decision as JSON',
    usage: "<event> --tool t --input '{…}'",
    load: async () => (await import('./hooks/dispatch.ts')).dispatchCommand,
  },
  {
    name: 'explain',
    about: 'Send an event through the hooks and explain the decision',
    usage: "<event> --tool t --input '{…}'",
    load: async () => (await import('./hooks/dispatch.ts')).explainCommand,
  },
  {
    name: 'shell',
    about: 'Show what a shell line does: commands, files, hosts, and what cannot be known',
    usage: '"<line>" [--shell zsh]',
    load: async () => (await import('./hooks/shell.ts')).shellCommand,
  },
  {
    name: 'trust',
    about: "Review a repository's hook file and trust it",
    usage: '[file …] [--show] [--revoke]',
    load: async () => (await import('./hooks/trust.ts')).trustCommand,
  },
  {
    name: 'import',
    about: "Convert another system's hooks to a hook file, and report what has no equivalent",
    usage: '<file or agent> [--from format] [--out file]',
    load: async () => (await import('./hooks/import.ts')).importCommand,
  },
  {
    name: 'connect',
    about: 'Send every tool call of a coding agent through your hooks',
    usage: '[agent …] [--project] [--dry-run]',
    load: async () => (await import('./agents/connect.ts')).connectCommand,
  },
  {
    name: 'disconnect',
    about: "Remove Hookhelm's entries from a coding agent's configuration",
    usage: '<agent>',
    load: async () => (await import('./agents/disconnect.ts')).disconnectCommand,
  },
  {
    name: 'undo',
    about: "Restore a coding agent's configuration byte for byte to what it was before it was connected",
    usage: '<agent>',
    load: async () => (await import('./agents/undo.ts')).undoCommand,
  },
  {
    name: 'agents',
    about: 'List the coding agents: which are installed, and which are connected',
    load: async () => (await import('./agents/agents.ts')).agentsCommand,
  },
  {
    name: 'doctor',
    about:
      'Prove that calls of the connected agents pass the hooks, and are blocked while the gateway is down',
    usage: '[agent …]',
    load: async () => (await import('./agents/doctor.ts')).doctorCommand,
  },
  {
    name: 'mcp-proxy',
    about: 'Run an MCP server behind a proxy that sends every tool call through the hooks',
    usage: '-- <command>',
    load: async () => (await import('./mcp/mcp-proxy.ts')).mcpProxyCommand,
  },
  {
    name: 'status',
    isRemote: true,
    about: 'Show gateway health, and every disabled or failing hook',
    load: async () => (await import('./remote/method-command.ts')).singleCommand('status'),
  },
  {
    name: 'demo',
    isRemote: true,
    about: 'Play scripted agents in a tenant of their own, without any model, or remove them again',
    usage: '[--remove]',
    replaced: { play: 'demo', remove: 'demo' },
    load: async () => (await import('./gateway/demo.ts')).demoCommand,
  },
  ...[
    {
      ...noun('hooks', 'Manage stored hooks, and show what they did', [
        'get',
        'create',
        'update',
        'delete',
        'preview',
        'toggle',
        'history',
      ]),
      replaced: { list: 'list', effective: 'list', test: 'test' },
    },
    noun('packs', 'Show the starter packs, and add them to the gateway; `hookhelm add` adds them to a file', [
      ...['list', 'show', 'add', 'remove'],
    ]),
    noun('executions', 'Show recorded executions of hooks', ['tail', 'get']),
    noun('events', 'Show recorded events, and explain their decisions', ['list', 'tail', 'get', 'explain']),
    noun('sessions', 'Show the sessions of agents', ['list', 'get', 'timeline']),
    noun('stats', 'Count decisions, what hooks did, and values of events', ['decisions', 'hooks', 'facets']),
    noun('caller', 'Show whose token this is, and what it may do', ['get']),
    noun('capabilities', 'Show what hooks can do with each coding agent', ['list']),
    noun('changes', 'Follow which kinds of things change: hooks, deliveries, tokens, …', ['tail']),
    noun('budgets', 'Show and set the token budget', ['get', 'set']),
    noun('tenants', 'Manage tenants', ['list', 'get', 'create', 'delete']),
    noun('members', 'Manage people and machine accounts, who own tokens', ['list', 'create', 'delete']),
    noun('tokens', 'Manage access tokens', ['list', 'create', 'delete']),
    {
      ...noun(
        'secrets',
        'Manage secrets for hooks, and the key that encrypts them; values are write-only',
        ['list', 'set', 'delete', 'rotate'],
        { rotate: async () => (await import('./gateway/rotate-keys.ts')).rotateKeysCommand },
      ),
      alias: 'secret',
    },
    noun('providers', 'Manage model providers; keys are write-only', ['list', 'set', 'delete']),
    noun('settings', 'Show and change settings', ['get', 'set']),
    noun('deliveries', 'Show and replay deliveries', ['list', 'replay']),
    noun('reports', 'Show the last result of `hookhelm doctor` for each coding agent', ['list', 'set']),
    noun('audit', 'Verify the tamper-evident audit log', ['verify']),
    {
      ...noun('blueprints', 'Manage the agents that can be started', ['list', 'show', 'save', 'delete'], {
        save: async () => (await import('./runs/save-blueprint.ts')).saveBlueprintCommand,
      }),
      replaced: { create: 'blueprints save', update: 'blueprints save' },
    },
    noun(
      'runs',
      'Start, watch, stop and resume runs of agents',
      ['start', 'list', 'show', 'watch', 'stop', 'resume'],
      { watch: async () => (await import('./runs/watch-run.ts')).watchRunCommand },
    ),
    noun('run-sessions', 'Show the sessions of runs, their events and results', [
      ...['list', 'show', 'events', 'result', 'tail', 'delete'],
    ]),
    noun('run-hooks', 'Manage named hooks that blueprints refer to', [
      ...['list', 'show', 'create', 'update', 'delete'],
    ]),
    noun(
      'approvals',
      'Show what waits for a person, and answer',
      ['list', 'show', 'approve', 'deny', 'cancel', 'revoke', 'draft', 'watch'],
      { watch: async () => (await import('./gateway/watch-approvals.ts')).watchApprovalsCommand },
    ),
    noun('rules', 'Manage recovery rules, try them on an event, and show what they did', [
      ...['list', 'create', 'update', 'toggle', 'simulate', 'history', 'firing', 'delete'],
    ]),
    noun('teams', 'Manage the teams that recovery rules notify', [
      ...['list', 'show', 'create', 'update', 'delete'],
    ]),
    noun('mailbox', 'Show the messages that recovery rules sent', ['list', 'show', 'read', 'delete']),
    noun('environments', 'Manage what recovery rules start runners with', [
      ...['list', 'create', 'update', 'delete'],
    ]),
    noun('runners', 'Show runners, and speak their protocol', [
      ...[
        'list',
        'register',
        'poll',
        'heartbeat',
        'started',
        'events',
        'spend',
        'completed',
        'failed',
        'stopped',
      ],
      'delete',
    ]),
  ],
  {
    name: 'completion',
    about: 'Print a completion script for bash, zsh or fish',
    verbs: ['bash', 'zsh', 'fish'],
  },
]

/** The noun of the gateway's methods for a command: `run-hooks` is `runHooks`. */
export function methodNoun(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The methods of one part of the gateway's API: `hookhelm hooks get`, `hookhelm hooks create`, … */
function noun(name: string, about: string, verbs: readonly string[], own: SubCommandsDef = {}): CommandRow {
  return {
    name,
    about,
    isRemote: true,
    verbs,
    localVerbs: Object.keys(own),
    load: async () => (await import('./remote/method-command.ts')).nounCommand(methodNoun(name), verbs, own),
  }
}
