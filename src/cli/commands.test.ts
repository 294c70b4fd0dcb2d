import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { methods } from '../gateway/methods.ts'
import { exitCodes } from './command.ts'
import { commands, methodNoun } from './commands.ts'

const main = join(import.meta.dirname, 'main.ts')
const hookhelm = (...args: readonly string[]) =>
  execFileSync(process.execPath, [main, ...args], { encoding: 'utf8' })
const docs = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8')

describe('the command table', () => {
  test('has a verb for every method of the gateway, and no other', () => {
    const remote = commands
      .filter(({ isRemote }) => isRemote)
      .flatMap(({ name, verbs = [], localVerbs = [], replaced = {} }) => {
        const own = [...verbs.filter((verb) => !localVerbs.includes(verb)), ...Object.keys(replaced)]
        return own.length === 0 ? [name] : own.map((verb) => `${methodNoun(name)}.${verb}`)
      })
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

  test('has names in lower case with dashes', () => {
    for (const { name, verbs = [] } of commands)
      for (const word of [name, ...verbs]) expect(word).toMatch(/^[a-z]+(-[a-z]+)*$/)
  })

  test('names a command that exists in place of every replaced one', () => {
    const names = commands.flatMap(({ name, verbs = [] }) => [
      name,
      ...verbs.map((verb) => `${name} ${verb}`),
    ])
    for (const { replaced = {} } of commands)
      expect(names).toEqual(expect.arrayContaining(Object.values(replaced)))
  })

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

describe('a command that does not exist', () => {
  const refused = (...args: readonly string[]) => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
    expect(stdout).toBe('')
    return { status, stderr: stderr.trim() }
  }

  test.each([
    [['lst'], 'there is no command lst. Did you mean list?'],
    [['xyzzy'], 'there is no command xyzzy. Run `hookhelm --help` to list the commands.'],
    [['hooks', 'lst'], 'there is no command hooks lst. Did you mean list?'],
    [['hooks', 'toggel', 'x'], 'there is no command hooks toggel. Did you mean hooks toggle?'],
    [
      ['sessions', 'xyzzy'],
      'there is no command sessions xyzzy. There are: hookhelm sessions list|get|timeline',
    ],
    [['sessions'], 'a subcommand is missing: hookhelm sessions list|get|timeline'],
    [['secret', 'rotat'], 'there is no command secrets rotat. Did you mean secrets rotate?'],
    [['hooks', 'list'], 'use `hookhelm list` instead of `hookhelm hooks list`'],
    [['hooks', 'test', 'x'], 'use `hookhelm test` instead of `hookhelm hooks test`'],
    [['hooks', 'effective'], 'use `hookhelm list` instead of `hookhelm hooks effective`'],
    [['--json', 'list'], 'flags come after the command: hookhelm <command> --json'],
  ])('%j is answered with the one that was meant', (args, stderr) => {
    expect(refused(...args)).toEqual({ status: 1, stderr })
  })

  test('a flag that does not exist is answered with the one that was meant', () => {
    expect(refused('list', '--foldr', 'x').stderr).toContain('Did you mean --folder?')
    expect(refused('sessions', 'list', '--sinse', '2h').stderr).toContain('Did you mean --since?')
  })

  test('the former name of a command still works, and help does not list it', () => {
    expect(hookhelm('secret', 'rotate', '--help')).toContain('Encrypts all stored secrets')
    expect(hookhelm('--help')).not.toMatch(/^ {2}secret /m)
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
