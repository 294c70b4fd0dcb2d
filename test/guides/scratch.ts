import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Guide } from './read-guide.ts'

const run = promisify(execFile)

/** A copy of the product outside of the repository that calls itself `hookhelm`. */
export class Scratch {
  readonly #root = mkdtempSync(join(tmpdir(), 'hookhelm-guide-'))

  constructor() {
    cpSync('src', join(this.#root, 'src'), {
      recursive: true,
      filter: (path) => !/\.(test|test-d|fixture)\.ts$/.test(path),
    })
    symlinkSync(resolve('node_modules'), join(this.#root, 'node_modules'))
    const exports = {
      '.': './src/index.ts',
      './openclaw': './src/openclaw/index.ts',
      './testing': './src/testing/index.ts',
    }
    this.write('package.json', JSON.stringify({ name: 'hookhelm', type: 'module', exports }))
    // What the guides change, and all that it leads to; the gateway around it is no guide's business.
    const include = ['src/index.ts', 'src/engine', 'src/openclaw', '*.ts']
    this.write('tsconfig.json', JSON.stringify({ extends: resolve('tsconfig.json'), include }))
  }

  write(path: string, text: string): void {
    const target = join(this.#root, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }

  /** Does what the guide says. An edit must fit exactly one place. */
  follow(guide: Guide): void {
    for (const { path, before, after } of guide.edits) {
      const parts = readFileSync(join(this.#root, path), 'utf8').split(before)
      if (parts.length !== 2) throw new Error(`fits ${parts.length - 1} places of ${path}:\n${before}`)
      this.write(path, parts.join(after))
    }
    for (const [path, code] of guide.files) this.write(path, code)
  }

  /** Everything the compiler has to say. */
  async typeErrors(): Promise<string> {
    const tsc = resolve('node_modules/typescript/bin/tsc')
    const refused = (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) })
    const { stdout } = await run(process.execPath, [tsc, '--noEmit'], { cwd: this.#root }).catch(refused)
    return stdout
  }

  /** What a program prints. */
  async printed(path: string): Promise<string> {
    const { stdout } = await run(process.execPath, [path], { cwd: this.#root })
    return stdout
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}
