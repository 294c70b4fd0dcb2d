#!/usr/bin/env node
import { defineCommand, runMain } from 'citty'
import { dispatchCommand } from './dispatch.ts'
import { explainCommand } from './explain.ts'
import { importCommand } from './import.ts'
import { initCommand } from './init.ts'
import { listCommand } from './list.ts'
import { testCommand } from './test.ts'
import { trustCommand } from './trust.ts'
import { validateCommand } from './validate.ts'

const main = defineCommand({
  meta: { name: 'hookhelm', description: 'One hook engine for every AI agent' },
  subCommands: {
    init: initCommand,
    validate: validateCommand,
    list: listCommand,
    test: testCommand,
    dispatch: dispatchCommand,
    explain: explainCommand,
    trust: trustCommand,
    import: importCommand,
  },
})

await runMain(main)
