import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFolder, write } from '../../test/hook-files/files.fixture.ts'
import { execWords, shellWords } from './command-words.ts'
import { changedScripts, pinScripts, recordScripts } from './trusted-scripts.ts'

const folders = { project: '/p', home: '/h' }
const words = (line: string) => shellWords(line, folders).map(({ path }) => path)
const programs = (line: string) =>
  shellWords(line, folders)
    .filter(({ isProgram }) => isProgram)
    .map(({ path }) => path)

test.each([
  ['./x.sh', ['./x.sh'], ['./x.sh']],
  ['bash -eu hooks/x.sh --fast', ['hooks/x.sh'], ['hooks/x.sh']],
  ['node check.js out.txt', ['check.js', 'out.txt'], ['check.js']],
  ['python3 -u "a b.py"', ['a b.py'], ['a b.py']],
  ['A=1 ./x && . lib.sh; exec ./y | ./z', ['./x', 'lib.sh', './y', './z'], ['./x', 'lib.sh', './y', './z']],
  ['"$CLAUDE_PROJECT_DIR"/x.sh', ['/p/x.sh'], ['/p/x.sh']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  ['sh "${HOOKHELM_PROJECT_DIR:-.}/x.sh"', ['/p/x.sh'], ['/p/x.sh']],
  ['"$(git rev-parse --show-toplevel)/x.sh"', ['/p/x.sh'], ['/p/x.sh']],
  ['$PWD/x.sh ~/y.sh $HOME/z', ['./x.sh', '/h/y.sh', '/h/z'], ['./x.sh']],
  ['cd hooks && ./x.sh', ['hooks/x.sh'], ['hooks/x.sh']],
  ['bash -c "./x.sh; node y.js"', ['./x.sh', 'y.js'], ['./x.sh', 'y.js']],
  ['if ./x.sh; then ./y.sh; fi', ['./x.sh', './y.sh'], ['./x.sh', './y.sh']],
  ['jq -f filter.jq --config=c.json', ['filter.jq', 'c.json'], []],
  ['cat < in.txt', ['in.txt'], []],
])('%s names its files', (line, all, run) => {
  expect(words(line)).toEqual(expect.arrayContaining(all))
  expect(programs(line)).toEqual(expect.arrayContaining(run))
})

test.each(['cat >> .hookhelm/journal.jsonl', './$name.sh', 'ls *.sh # ./x.sh'])(
  '%s names no file that can be known',
  (line) => {
    expect(programs(line)).toEqual([])
    expect(words(line).filter((word) => word.includes('/'))).toEqual([])
  },
)

test('the words of a program are its arguments, as they are', () => {
  expect(execWords(['node', '--import', 'a b.js', './x.js'], folders)).toEqual([
    { path: 'node', isProgram: false },
    { path: '--import', isProgram: false },
    { path: 'a b.js', isProgram: true },
    { path: './x.js', isProgram: false },
  ])
})

function repository() {
  const folder = scratchFolder()
  mkdirSync(join(folder, '.git'))
  const hookFolder = join(folder, 'pkg', '.hookhelm')
  write(join(folder, 'root.sh'), 'root')
  write(join(folder, 'pkg', 'x.sh'), 'x')
  return { folder, hookFolder, file: (name: string) => join(folder, 'pkg', name) }
}

const command = (line: string, more = {}) => ({
  event: 'stop',
  handler_type: 'command',
  config: { command: line, ...more },
})

test('scripts inside the repository are recorded, and no others', () => {
  const { folder, hookFolder, file } = repository()
  symlinkSync('x.sh', file('link.sh'))
  const outside = write(join(scratchFolder(), 'y.sh'), 'y')
  const scripts = recordScripts(
    [command(`bash x.sh; ../root.sh; ./link.sh; ${outside}; ./missing.sh; cat data.txt`)],
    hookFolder,
  )
  expect(scripts).toEqual({
    [file('x.sh')]: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    [join(folder, 'root.sh')]: { sha256: expect.any(String) },
    [file('link.sh')]: { sha256: scripts[file('x.sh')]?.sha256, link: true },
    [file('missing.sh')]: {},
  })
  expect(
    recordScripts([{ event: 'stop', handler_type: 'http', config: { url: './x.sh' } }], hookFolder),
  ).toEqual({})
  expect(homedir()).not.toBe(folder)
})

test('a command gets the pins of the files that it names, relative to where it runs', () => {
  const { hookFolder, file } = repository()
  const hooks = [command('bash x.sh'), command('bash x.sh', { cwd: '/elsewhere' }), command('true')]
  const scripts = recordScripts(hooks, hookFolder)
  const sha256 = scripts[file('x.sh')]?.sha256
  expect(pinScripts(hooks, scripts, hookFolder).map(({ config }) => config)).toEqual([
    { command: 'bash x.sh', pinned_files: [{ path: 'x.sh', sha256 }] },
    { command: 'bash x.sh', cwd: '/elsewhere' },
    { command: 'true' },
  ])
})

test('scripts that are no longer as they were are found', () => {
  const { hookFolder, file } = repository()
  write(file('y.sh'), 'y')
  write(file('z.sh'), 'z')
  const scripts = recordScripts([command('bash x.sh; bash y.sh; ./z.sh; ./new.sh')], hookFolder)
  expect(changedScripts(scripts)).toEqual([])
  write(file('x.sh'), 'X')
  rmSync(file('y.sh'))
  rmSync(file('z.sh'))
  symlinkSync('x.sh', file('z.sh'))
  write(file('new.sh'), 'new')
  chmodSync(file('new.sh'), 0o755)
  const states = changedScripts(scripts).map(({ path, state }) => [path, state])
  expect(Object.fromEntries(states)).toEqual({
    [file('x.sh')]: 'changed',
    [file('y.sh')]: 'missing',
    [file('z.sh')]: 'link',
    [file('new.sh')]: 'appeared',
  })
})
