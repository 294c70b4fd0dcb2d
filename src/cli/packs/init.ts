import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { hookFileIn } from '../../hook-files/hook-folders.ts'
import { findPack, packNames, recommendedPacks } from '../../hook-files/packs/pack.ts'
import { SCHEMA_URL } from '../../hook-files/schema/json-schema.ts'
import { command, exitCodes, type Flags } from '../command.ts'
import { trustHooks } from '../hooks/trust.ts'
import { printMessage, printOutput } from '../output.ts'
import { addPack, hooksIn } from './edit-packs.ts'

export const initCommand = command({
  args: {
    packs: { type: 'string', description: 'starter packs to add: names separated by commas, or all' },
    protect: { type: 'boolean', description: 'add the pack that keeps agents from changing hooks' },
    yes: { type: 'boolean', description: 'add every pack that would be offered' },
  },
  async run(args) {
    const folder = join(resolve(args.cwd ?? '.'), '.hookhelm')
    const existing = existsSync(folder) ? hookFileIn(folder) : undefined
    if (existing !== undefined)
      throw handlerError('config.exists', `${existing} exists already`, {
        hint: 'Add starter packs to it with `hookhelm add <pack>`.',
      })
    const packs = (await choosePacks(args)).map((name) => findPack(name))
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'hooks.yaml')
    const text = packs.reduce((now, pack) => addPack({ path, text: now }, pack, false).text, exampleFile)
    writeFileSync(path, text, { flag: 'wx', mode: 0o644 })
    // The user has just written this file, so there is nothing to review.
    trustHooks(path, text, hooksIn({ path, text }))
    if (args.json) printOutput({ file: path, packs: packs.map(({ name }) => name) })
    printMessage(`written and trusted: ${path}\n\nTry it:\n${nextSteps}`)
    if (packs.length === 0) printMessage(`\nStarter packs: hookhelm add ${recommendedPacks.join(' ')}`)
    return exitCodes.ok
  },
})

async function choosePacks({
  packs,
  protect,
  yes,
}: Flags<'packs', 'protect' | 'yes'>): Promise<readonly string[]> {
  const named = [...(packs === undefined ? [] : readNames(packs)), ...(protect ? ['protect-hooks'] : [])]
  if (yes) return [...new Set([...recommendedPacks, ...named])]
  if (named.length > 0) return [...new Set(named)]
  return offerPacks()
}

function readNames(text: string): string[] {
  if (text.trim() === 'all') return packNames()
  return text.split(/[\s,]+/).filter((name) => name !== '')
}

async function offerPacks(): Promise<readonly string[]> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return []
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    printMessage(`Starter packs: ${packNames().join(', ')}`)
    const answer = await terminal.question(`Add ${recommendedPacks.join(', ')}? [Y, n, all or names] `)
    if (/^\s*(y(es)?)?\s*$/i.test(answer)) return recommendedPacks
    return /^\s*no?\s*$/i.test(answer) ? [] : readNames(answer)
  } finally {
    terminal.close()
  }
}

const nextSteps = `  hookhelm list
  hookhelm explain pre_tool_use --tool Bash --input '{"command":"cd app && git push --force"}'
  hookhelm explain pre_tool_use --tool Bash --input '{"command":"echo x | tee app/.env"}'`

/** A test runs every hook of this file. */
const exampleFile = `# yaml-language-server: $schema=${SCHEMA_URL}
# Hooks for every agent that works in this repository. Check with: hookhelm validate
# A change has no effect until you run: hookhelm trust
version: 1
hooks:
  # 1. Block a command by what it does, however it is spelled. \`decision: ask\` lets a person decide.
  - id: no-force-push
    event: pre_tool_use
    matcher: Bash(git push --force*)
    handler_type: answer
    config:
      decision: block
      reason: a forced push can delete the work of others; push without --force

  # 2. Keep agents from changing files with secrets, with a tool or in a shell: echo x >> .env, sed -i, cp, mv, rm.
  #    \`!Write(**)\` leaves out what names no such file and only may touch one: \`git checkout .\`, \`tar -xzf a.tgz\`.
  - id: no-secrets
    event: pre_tool_use
    match:
      names: [Write(*.env), "!Write(**)"]
    handler_type: answer
    config:
      decision: block
      reason: files named .env are not for agents

  # 3. Log every tool call. A command reads the event as JSON from stdin. Observers never block and never delay the
  #    agent; before a call, exit code 2 would block it, with stderr as the reason.
  - id: journal
    event: post_tool_use
    handler_type: command
    config:
      command: cat >> .hookhelm/journal.jsonl
`
