import { describe, expect, test } from 'vitest'
import { compileError, matches, matchesName, toolCallInput } from '../../../test/engine/match.fixture.ts'

const bash = (pattern: string, command: string): boolean =>
  matches({ matcher: `Bash(${pattern})` }, toolCallInput('Bash', { command }))

describe('Tool(pattern)', () => {
  test('ruling 18 wants exactly this tool and an argument that fits as a whole', () => {
    expect(bash('git push*', 'git push origin main')).toBe(true)
    expect(bash('git push*', 'git pull')).toBe(false)
    expect(bash('git push', 'git push origin')).toBe(false)
    expect(bash('*', '')).toBe(true)
    expect(matches({ matcher: 'Bash(git push*)' }, toolCallInput('BashTool', { command: 'git push' }))).toBe(
      false,
    )
    expect(matches({ matcher: 'Bash(git push*)' }, toolCallInput('bash', { command: 'git push' }))).toBe(
      false,
    )
  })

  test('a trailing :* means this prefix, alone or followed by a space', () => {
    expect(bash('npm run test:*', 'npm run test')).toBe(true)
    expect(bash('npm run test:*', 'npm run test -- --watch')).toBe(true)
    expect(bash('npm run test:*', 'npm run tests')).toBe(false)
  })

  test.each([
    'cd x && git   push',
    'ls; git push',
    'true | git push',
    'git push & wait',
    'echo "$(git push)"',
    'echo `git push`',
    '(git push)',
    '{ git push; }',
    'ls\ngit push',
    'git \\\n push',
    '\tgit\tpush',
    'FOO=1 BAR="x y" git push',
    'sudo git push',
    'sudo -u root -- git push',
    'env -i PATH=/bin git push',
    'nohup command time git push',
    'bash -c "git push"',
    '/usr/bin/git push',
    '"git" push',
    "g'i't pu\\sh",
    'if true; then git push; fi',
    '! git push',
    '2>/dev/null git push',
    'find . | xargs -n 1 git push',
  ])('a command inside a command does not slip through: %j', (command) => {
    expect(bash('git push', command)).toBe(true)
  })

  test.each(['git pull', 'echo push', 'mygit push', 'git', '', ';;;', 'sudo', 'FOO=1', 'git-push'])(
    'what is another command stays one: %j',
    (command) => {
      expect(bash('git push', command)).toBe(false)
    },
  )

  test('looks at paths as written, without detours, and from the working directory', () => {
    const read = (path: string, pattern = './.env') =>
      matches(
        { matcher: `Read(${pattern})` },
        toolCallInput('Read', { file_path: path }, { cwd: '/home/me/app' }),
      )
    expect(read('./.env')).toBe(true)
    expect(read('.env')).toBe(true)
    expect(read('src/../.env')).toBe(true)
    expect(read('/home/me/app/.env')).toBe(true)
    expect(read('/home/me/app/x/../.env')).toBe(true)
    expect(read('/etc/.env')).toBe(false)
    expect(read('/home/me/app/src/a/b.ts', 'src/*')).toBe(true)
    expect(read('/etc/passwd', '/etc/**')).toBe(true)
  })

  test('domain: compares the host, as a browser reads it', () => {
    const fetches = (url: string, pattern = 'domain:Example.com') =>
      matches({ matcher: `WebFetch(${pattern})` }, toolCallInput('WebFetch', { url }))
    expect(fetches('https://example.com/a?b')).toBe(true)
    expect(fetches('HTTPS://user@API.Example.com.:8443/')).toBe(true)
    expect(fetches('example.com/a')).toBe(true)
    expect(fetches('https://example.com@evil.org/')).toBe(false)
    expect(fetches('https://notexample.com/')).toBe(false)
    expect(fetches('https://evil.org/?https://example.com')).toBe(false)
    expect(fetches('https://%')).toBe(false)
    expect(fetches('https://a.b.test/', 'domain:*.test')).toBe(true)
  })

  test('an extra argument cannot hide the one that counts', () => {
    const hook = { matcher: 'Run(rm *)' }
    expect(matches(hook, toolCallInput('Run', { command: 'ls', script: 'rm -rf /' }))).toBe(true)
    expect(matches(hook, toolCallInput('Run', { command: { toString: 'x' }, cmd: 'rm x' }))).toBe(true)
    expect(matches(hook, toolCallInput('Run', { cmd: ['rm', '-rf', '/'] }))).toBe(true)
    expect(matches(hook, toolCallInput('Run', { argv0: 'rm x' }))).toBe(true)
    expect(matches(hook, toolCallInput('Run', 'rm x'))).toBe(true)
    expect(matches(hook, toolCallInput('Run', { command: 'ls' }))).toBe(false)
  })

  test('a call without arguments fits only a pattern that fits nothing at all', () => {
    for (const input of [undefined, null, {}, [], { n: 1 }]) {
      expect(matches({ matcher: 'Todo(*)' }, toolCallInput('Todo', input))).toBe(true)
      expect(matches({ matcher: 'Todo(a*)' }, toolCallInput('Todo', input))).toBe(false)
    }
  })

  test('4.3 #37 stays quick on a text made to slow it down', () => {
    expect(bash('*a*a*a*a*a*b', 'a'.repeat(20_000))).toBe(false)
    expect(bash('git push', ';'.repeat(100_000))).toBe(false)
    // Nothing is certain about a line that is nested too deeply, so that a gate must not take it as harmless.
    expect(() => bash('git push', 'sudo '.repeat(20_000))).toThrow(
      expect.objectContaining({ code: 'match.shell_limit' }),
    )
  })

  test('a pattern of more than 1 000 characters is too complex', () => {
    expect(compileError({ matcher: `Bash(${'x'.repeat(1_001)})` })).toMatchObject({
      code: 'match.too_complex',
    })
  })
})

describe('a matcher that could be both', () => {
  test('is a regular expression when the inside reads like one', () => {
    expect(matchesName({ matcher: 'mcp__(github|slack)' }, 'mcp__slack__post')).toBe(true)
    expect(matchesName({ matcher: 'mcp__(github|slack)' }, 'mcp__jira__post')).toBe(false)
    expect(matchesName({ matcher: 'mcp__(github)' }, 'mcp__github__push')).toBe(true)
    expect(matchesName({ matcher: 'Notebook(Edit|Read)' }, 'NotebookEdit')).toBe(true)
    expect(matchesName({ matcher: '^Bash(.*)' }, 'BashOutput')).toBe(true)
    expect(matchesName({ matcher: 'Tool(?:A)' }, 'ToolA')).toBe(true)
  })

  test('fires on a superset when it was meant for the arguments', () => {
    for (const matcher of [
      'Bash(git .*)',
      'Bash(git.+)',
      'Bash(git|npm)',
      'Bash(ls [a-z])',
      'Bash(\\w)',
      'Bash()',
    ])
      expect(matches({ matcher }, toolCallInput('Bash', { command: 'git push' }))).toBe(true)
  })

  test('is refused when the readings differ: Bash(git push|rm -rf)', () => {
    const error = compileError({ matcher: 'Bash(git push|rm -rf)' })
    expect(error).toMatchObject({ code: 'match.ambiguous', at: 'matcher:13' })
    expect(error.hint).toContain('^')
    expect(matchesName({ matcher: '^Bash(git push|rm -rf)' }, 'Bash')).toBe(false)
  })
})

test('each file of a list is an argument of its own', () => {
  const edit = toolCallInput('Edit', {
    command: '*** Begin Patch',
    file_path: 'a.ts',
    file_paths: ['a.ts', '.env', 7],
  })
  expect(matches({ matcher: 'Edit(.env)' }, edit)).toBe(true)
  expect(matches({ matcher: 'Edit(*.md)' }, edit)).toBe(false)
})

test('CH-25 names are exact and case counts', () => {
  const hook = { match: { names: ['Bash', 'Edit'] } }
  expect(matchesName(hook, 'Edit')).toBe(true)
  expect(matchesName(hook, 'edit')).toBe(false)
  expect(matchesName(hook, 'MultiEdit')).toBe(false)
  expect(matchesName(hook, '')).toBe(false)
})

test('CH-24 an empty list matches everything', () => {
  expect(matchesName({ match: { names: [] } }, 'Bash')).toBe(true)
  expect(matchesName({ match: { names: [] } }, '')).toBe(true)
})

test('an entry with a parenthesis is a Tool(pattern), and one entry suffices', () => {
  const hook = { match: { names: ['Edit', 'Bash(git push*)', 'Bash(rm *)'] } }
  expect(matches(hook, toolCallInput('Edit'))).toBe(true)
  expect(matches(hook, toolCallInput('Bash', { command: 'git push' }))).toBe(true)
  expect(matches(hook, toolCallInput('Bash', { command: 'rm -rf /' }))).toBe(true)
  expect(matches(hook, toolCallInput('Bash', { command: 'ls' }))).toBe(false)
  expect(matches(hook, toolCallInput('Read', { command: 'rm x' }))).toBe(false)
})

test('in a list nothing is ambiguous: a pipe or a bracket stands for itself', () => {
  const hook = { match: { names: ['Bash(ls | wc)', 'Bash(echo [a])'] } }
  expect(matches(hook, toolCallInput('Bash', { command: 'ls | wc' }))).toBe(true)
  expect(matches(hook, toolCallInput('Bash', { command: 'echo [a]' }))).toBe(true)
  expect(matches(hook, toolCallInput('Bash', { command: 'echo a' }))).toBe(false)
})

test('an entry that only looks like a Tool(pattern) is refused with its position', () => {
  for (const entry of ['Bash(x', '(x)', 'a b(c)']) {
    expect(compileError({ match: { names: ['Edit', entry] } })).toMatchObject({
      code: 'match.syntax',
      at: 'match.names.1',
    })
  }
})

test('names must be a list of strings', () => {
  expect(compileError(JSON.parse('{"match":{"names":"Bash"}}'))).toMatchObject({
    code: 'config.field',
    at: 'match.names',
  })
  expect(compileError(JSON.parse('{"match":{"names":["Bash",1]}}'))).toMatchObject({
    code: 'config.field',
    at: 'match.names.1',
  })
})
