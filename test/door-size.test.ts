import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildResult, build, type Metafile } from 'esbuild'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'

const limit = 80 * 1024

describe('the library door', () => {
  let bundle: BuildResult<{ metafile: true; write: false }>

  beforeAll(async () => {
    bundle = await build({
      entryPoints: ['src/index.ts'],
      bundle: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      // Without it a lazy import would look like one that is always there.
      splitting: true,
      outdir: 'bundle',
      external: ['@bufbuild/*'],
      metafile: true,
      write: false,
      logLevel: 'silent',
    })
  })

  test('stays under 80 KB gzipped, RE2 included', () => {
    const bytes = bundle.outputFiles.reduce((sum, file) => sum + gzipSync(file.contents).length, 0)
    expect(bytes).toBeLessThanOrEqual(limit)
  })

  test('bundles no package but re2js', () => {
    const packages = Object.keys(bundle.metafile.inputs).flatMap(packageOf)
    expect([...new Set(packages)]).toEqual(['re2js'])
  })

  test('leaves nothing outside but CEL, and reaches that only when it is needed', () => {
    const all = Object.values(bundle.metafile.outputs).flatMap((output) => externals(output))
    expect(all.filter((path) => !/^@bufbuild\/|^node:/.test(path))).toEqual([])
    expect(staticExternals(bundle.metafile).filter((path) => !path.startsWith('node:'))).toEqual([])
  })

  test('loads CEL with the first `if_expr`, not before', () => {
    const printed = execFileSync(process.execPath, ['test/door/loaded-packages.ts'], { encoding: 'utf8' })
    const { alone, withCondition } = JSON.parse(printed)
    expect(alone).toEqual(['re2js'])
    expect(withCondition).toEqual(expect.arrayContaining(['@bufbuild/cel', 're2js']))
  })
})

test.each([
  ['if_expr', "if_expr: 'depth < 2'", 'config.bundled'],
  ['match.command', "match: { command: { program: 'rm' } }", 'config.bundled'],
  ['Bash(…)', "matcher: 'Bash(rm *)'", 'config.no_shell'],
])(
  'in a program of one file a hook with %s is refused, and the error says what to do',
  async (_, condition, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'hookhelm-bundle-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const outfile = join(folder, 'program.mjs')
    const contents = `import { createHooks } from './src/index.ts'
    try {
      createHooks().on('pre_tool_use', { ${condition} }, () => {})
    } catch (error) {
      console.log(JSON.stringify({ code: error.code, hint: error.hint }))
    }`
    const stdin = { contents, resolveDir: '.', loader: 'ts' } as const
    await build({ stdin, bundle: true, platform: 'node', format: 'esm', external: ['@bufbuild/*'], outfile })
    const printed = execFileSync(process.execPath, [outfile], { encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual({ code, hint: expect.stringMatching(/external|shell: analyzeShell/) })
  },
)

type Output = Metafile['outputs'][string]

function externals(output: Output): string[] {
  return output.imports.filter((each) => each.external).map((each) => each.path)
}

/** What loading the door loads at once: the entry chunk and all it imports other than lazily. */
function staticExternals({ outputs }: Metafile): string[] {
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === 'src/index.ts')
  const reached = new Set<string>()
  const found: string[] = []
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const each of outputs[path]?.imports ?? []) {
      if (each.kind === 'dynamic-import') continue
      if (each.external) found.push(each.path)
      else visit(each.path)
    }
  }
  visit(entry ?? '')
  expect(reached.size).toBeGreaterThan(0)
  return found
}

function packageOf(path: string): string[] {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
  return name === undefined ? [] : [name]
}
