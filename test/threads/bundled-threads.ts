import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Plugin } from 'vitest/config'

const root = join(import.meta.dirname, '../..')
const outdir = join(root, 'node_modules/.cache/hookhelm/threads')
/** Modules in which a thread of the product starts, without their ending. */
const threads = ['src/store/sqlite/store-worker', 'src/handlers/script/sandbox-worker']

/** In a test, a thread starts from one file as it does in the package: from source it would strip the types of a hundred files at every start. */
export const bundledThreads: Plugin = {
  name: 'bundled-threads',
  enforce: 'pre',
  transform(code, id) {
    const thread = threads.find((each) => code.includes(`'./${basename(each)}.ts'`))
    if (thread === undefined || !id.startsWith(join(root, 'src'))) return undefined
    const bundle = pathToFileURL(join(outdir, `${basename(thread)}.js`))
    return code.replace(`'./${basename(thread)}.ts'`, `'${bundle}'`)
  },
}

export async function bundleThreads(): Promise<void> {
  await build({
    entryPoints: threads.map((thread) => join(root, `${thread}.ts`)),
    entryNames: '[name]',
    outdir,
    bundle: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node24',
    format: 'esm',
    sourcemap: 'linked',
    logLevel: 'warning',
    // Packages with files of their own beside their code.
    external: ['@jitl/*'],
  })
}
