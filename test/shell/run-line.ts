import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestShell } from './install-shells.ts'

/** One run of a stand-in program. */
export interface RecordedRun {
  readonly program: string
  readonly cwd: string
  readonly args: readonly string[]
}

export interface LineRun {
  readonly cwd: string
  readonly runs: readonly RecordedRun[]
  /** Files that are new, gone or different after the line. */
  readonly changed: readonly string[]
}

const root = realpathSync(tmpdir())

/** A folder with stand-in programs and some files, in which lines run. */
export interface LineSandbox {
  readonly run: (line: string, shell: TestShell) => LineRun
  /** The text of a file in the folder of a run, as it was before the line. */
  readonly readBefore: (path: string) => string | undefined
  readonly remove: () => void
}

export function createLineSandbox(): LineSandbox {
  const base = join(root, `hookhelm-shell-${process.pid}`)
  const template = join(base, 'template')
  let count = 0
  for (const folder of [template, join(template, 'd1'), join(template, 'bin')])
    mkdirSync(folder, { recursive: true })
  for (const [name, status, output] of [
    ['alpha', 0, ''],
    ['beta', 1, ''],
    ['gamma', 0, 'delta'],
    ['delta', 0, ''],
  ] as const) {
    const script = `#!/bin/dash\nprintf '%s\\0' ${name} "$PWD" "$@" > "$RECORD/$$"\n${output === '' ? '' : `echo ${output}\n`}exit ${status}\n`
    writeFileSync(join(template, 'bin', name), script)
    chmodSync(join(template, 'bin', name), 0o755)
  }
  writeFileSync(join(template, 'f1'), 'one\n')
  writeFileSync(join(template, 'f2'), 'two three\n')
  writeFileSync(join(template, 'd1/g1'), 'one\n')
  writeFileSync(join(template, 's1.sh'), 'beta script "$1"\n')
  chmodSync(join(template, 's1.sh'), 0o755)
  const before = listFiles(template)
  const run = (line: string, shell: TestShell): LineRun => {
    // Processes in the background may still write, so every run has folders of its own.
    const cwd = join(base, `work-${++count}`)
    const record = join(base, `record-${count}`)
    mkdirSync(record)
    cpSync(template, cwd, { recursive: true, preserveTimestamps: true })
    const env = {
      PATH: `${template}/bin:/usr/bin:/bin`,
      RECORD: record,
      HOME: join(cwd, 'd1'),
      OUT: 'beta out',
      LC_ALL: 'C.UTF-8',
      PWD: cwd,
    }
    const limits = { timeout: 10_000, killSignal: 'SIGKILL', stdio: 'ignore' } as const
    const { pid } = spawnSync(shell.path, ['-c', line], { cwd, env, ...limits, ...OWN_GROUP })
    endGroup(pid)
    const after = listFiles(cwd)
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path) && !SED_FILE.test(path),
    )
    const runs = readRecords(record)
    for (const folder of [cwd, record]) removeFolder(folder)
    return { cwd, runs, changed }
  }
  const readBefore = (path: string): string | undefined => {
    const file = path.replace(/\/work-\d+\//, '/template/')
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8') : undefined
  }
  return { run, readBefore, remove: () => removeFolder(base) }
}

/** The temporary file of a `sed -i` in the background that ends with its shell. */
const SED_FILE = /(?:^|\/)sed[A-Za-z0-9]{6}$/

/** Node passes it on although the types do not have it. */
const OWN_GROUP: object = { detached: true }

/** A trap that calls its own function starts shells for ever, and the limit ends only the first of them. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A process that outlives its line wrote a file meanwhile. The folder is in the temporary folder.
  }
}

function readRecords(folder: string): RecordedRun[] {
  const records = readdirSync(folder).map((file) => {
    const [program = '', cwd = '', ...args] = readFileSync(join(folder, file), 'utf8')
      .split('\0')
      .slice(0, -1)
    return { program, cwd, args }
  })
  // A process in the background may only have started to write.
  return records.filter(({ program }) => program !== '')
}

/** Every file and folder below, with its content. */
function listFiles(folder: string): Map<string, string> {
  const files = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isFile =
      entry.isFile() || (entry.isSymbolicLink() && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    const content = entry.isDirectory()
      ? 'folder'
      : entry.isSymbolicLink()
        ? 'link'
        : isFile
          ? `${statSync(path).mode} ${readFileSync(path, 'latin1')}`
          : 'other'
    files.set(path.slice(folder.length + 1), content)
  }
  return files
}
