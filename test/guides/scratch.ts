import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Guide } from './read-guide.ts'

/** How a program ended. */
export interface ProgramRun {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** What the command line and the docs generator need besides `src`. */
const sources = [
  ...['src', 'scripts', 'bin', 'docs', 'packs', 'schema', 'ui/src', 'ui/package.json', 'ui/vite.config.ts'],
  ...['all-cases', 'cases', 'approval-cases', 'boundary-cases', 'run-cases', 'recovery'].map(
    (name) => `test/agents-real/${name}.ts`,
  ),
  ...['test/agents/results.json', 'test/guides/through-gateway.ts', 'test/packs', 'test/shell/cases'],
]

/** A copy of the repository without its tests. Programs in it import it as `hookhelm`. */
export class Scratch {
  readonly #root = mkdtempSync(join(tmpdir(), 'hookhelm-guide-'))

  constructor() {
    for (const source of sources)
      cpSync(source, join(this.#root, source), {
        recursive: true,
        filter: (path) => !/\.(test|test-d|fixture)\.ts$/.test(path),
      })
    this.#linkPackages()
    const exports = {
      '.': './src/index.ts',
      './openclaw': './src/openclaw/index.ts',
      './testing': './src/testing/index.ts',
    }
    const manifest = { name: 'hookhelm', version: '0.0.0', type: 'module', exports }
    this.write('package.json', JSON.stringify(manifest))
    this.write('home/hooks.json', JSON.stringify({ version: 1, hooks: [] }))
  }

  /** Without the cache: it may hold results of the repository's tests, and the docs generator would read them. */
  #linkPackages(): void {
    mkdirSync(join(this.#root, 'node_modules'))
    for (const name of readdirSync('node_modules').filter((each) => each !== '.cache'))
      symlinkSync(resolve('node_modules', name), join(this.#root, 'node_modules', name))
  }

  read(path: string): string {
    return readFileSync(join(this.#root, path), 'utf8')
  }

  write(path: string, text: string): void {
    const target = join(this.#root, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }

  /** Makes the changes of a guide. Each edit must fit exactly one position in its file. */
  follow(guide: Guide): void {
    for (const { path, before, after } of guide.edits) {
      const parts = this.read(path).split(before)
      if (parts.length !== 2) throw new Error(`fits ${parts.length - 1} places of ${path}:\n${before}`)
      this.write(path, parts.join(after))
    }
    for (const [path, code] of guide.files) this.write(path, code)
  }

  /** The errors of the web app that the compiler reports. */
  async typeErrorsOfUi(): Promise<string> {
    const options = JSON.parse(readFileSync('ui/tsconfig.json', 'utf8'))
    this.write('ui/tsconfig.json', JSON.stringify({ ...options, extends: resolve('tsconfig.json') }))
    return (await this.#run(['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'ui'])).stdout
  }

  /** The errors that the compiler reports. `include` limits the check to some of the files. */
  async typeErrors(include = ['src/index.ts', 'src/engine', 'src/openclaw', '*.ts']): Promise<string> {
    this.write('tsconfig.json', JSON.stringify({ extends: resolve('tsconfig.json'), include }))
    const { stdout } = await this.#run(['node_modules/typescript/bin/tsc', '--noEmit'])
    return stdout
  }

  /** The output of a program. Throws if the program fails. */
  async printed(path: string, ...args: readonly string[]): Promise<string> {
    const { exit, stdout, stderr } = await this.#run([path, ...args])
    if (exit !== 0) throw new Error(`${path} ended with ${exit}: ${stderr}`)
    return stdout
  }

  /** Runs the command line of the copy. Its home folder is in the copy too. */
  hookhelm(...args: readonly string[]): Promise<ProgramRun> {
    return this.#run(['src/cli/main.ts', ...args])
  }

  #run(argv: readonly string[]): Promise<ProgramRun> {
    const home = join(this.#root, 'home')
    const env = { ...process.env, HOME: home, HOOKHELM_HOME: home, TMPDIR: home }
    return new Promise((done) => {
      execFile(process.execPath, argv, { cwd: this.#root, env }, (error, stdout, stderr) => {
        done({ exit: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
      }).stdin?.end()
    })
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}
