#!/usr/bin/env node
import { defineCommand, runCommand, runMain } from 'citty'
import { dispatchCommand } from './dispatch.ts'
import { explainCommand } from './explain.ts'
import { initCommand } from './init.ts'
import { listCommand } from './list.ts'
import { remoteCommands } from './remote/nouns.ts'
import { testCommand } from './test.ts'
import { trustCommand } from './trust.ts'
import { validateCommand } from './validate.ts'
import { version } from './version.ts'

const main = defineCommand({
  meta: { name: 'hookhelm', version: version(), description: 'One hook engine for every AI agent' },
  subCommands: {
    // They load the whole gateway, which no other command needs.
    up: async () => (await import('./up.ts')).upCommand,
    init: initCommand,
    validate: validateCommand,
    list: listCommand,
    test: testCommand,
    dispatch: dispatchCommand,
    explain: explainCommand,
    trust: trustCommand,
    import: async () => (await import('./import.ts')).importCommand,
    connect: async () => (await import('./connect.ts')).connectCommand,
    disconnect: async () => (await import('./disconnect.ts')).disconnectCommand,
    undo: async () => (await import('./undo.ts')).undoCommand,
    agents: async () => (await import('./agents.ts')).agentsCommand,
    doctor: async () => (await import('./doctor.ts')).doctorCommand,
    'mcp-proxy': async () => (await import('./mcp-proxy.ts')).mcpProxyCommand,
    secret: async () => (await import('./secret.ts')).secretCommand,
    ...remoteCommands,
  },
})

const rawArgs = process.argv.slice(2)
const end = rawArgs.indexOf('--')
const help = rawArgs.findIndex((arg) => arg === '-h' || arg === '--help')
// What follows `--` belongs to another program, its `-h` included.
if (end !== -1 && (help === -1 || end < help)) await runCommand(main, { rawArgs })
else await runMain(main)
