import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { methods } from '../gateway/methods/table.ts'
import { exitCodes } from './command.ts'
import { commands } from './commands.ts'

const main = join(import.meta.dirname, 'main.ts')
const hookhelm = (...args: readonly string[]) =>
  execFileSync(process.execPath, [main, ...args], { encoding: 'utf8' })
const docs = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8')

describe('the command table', () => {
  test('has a verb for every method of the gateway, and no other', () => {
    const remote = commands
      .filter(({ isRemote }) => isRemote)
      .flatMap(({ name, verbs }) => verbs?.map((verb) => `${name}.${verb}`) ?? [name])
    expect(remote.sort()).toEqual(methods.map(({ name }) => name).sort())
  })

  test.each(commands.map((row) => [row.name, row] as const))(
    '%s loads, with the verbs it names',
    async (_, row) => {
      const loaded = await row.load?.()
      const command = typeof loaded === 'function' ? await loaded() : await loaded
      if (command === undefined) return
      const verbs = command.subCommands === undefined ? undefined : Object.keys(command.subCommands)
      expect(verbs?.sort()).toEqual(row.verbs?.toSorted())
    },
  )

  test('is what --help lists', () => {
    const lines = hookhelm('--help')
      .split('\n')
      .map((line) => line.trim().replace(/ {2,}/, '  '))
    for (const { name, about } of commands) expect(lines).toContain(`${name}  ${about}`)
  })

  test('is what the docs describe, and so are the exit codes', () => {
    for (const { name, verbs = [] } of commands) {
      expect(docs).toContain(`hookhelm ${name}`)
      if (verbs.length > 1) expect(docs).toContain(`hookhelm ${name} ${verbs.join('\\|')}`)
    }
    const rows = docs
      .split('## Exit codes')[1]
      ?.split('## ')[0]
      ?.match(/^\| \d \|/gm)
    expect(rows).toEqual(Object.values(exitCodes).map((code) => `| ${code} |`))
  })
})

describe('completion', () => {
  const complete = (words: string, current: string, previous: string) =>
    execFileSync(
      'bash',
      [
        '-c',
        `${hookhelm('completion', 'bash')}\nCOMP_CWORD=${words}; _hookhelm hookhelm '${current}' '${previous}'; echo "\${COMPREPLY[@]}"`,
      ],
      { encoding: 'utf8' },
    ).trim()

  test('in bash offers commands, then the verbs of a command', () => {
    expect(complete('1', 'di', 'hookhelm')).toBe('dispatch disconnect')
    expect(complete('2', '', 'budgets')).toBe('get set')
    expect(complete('2', '', 'validate')).toBe('')
  })

  test.each(['zsh', 'fish'])('for %s names every command and verb', (shell) => {
    const script = hookhelm('completion', shell)
    for (const { name, verbs = [] } of commands) {
      expect(script).toContain(name)
      if (verbs.length > 0) expect(script).toContain(verbs.join(' '))
    }
  })
})
