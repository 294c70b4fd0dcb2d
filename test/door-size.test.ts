import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { type BuildResult, build, type Metafile } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'

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
