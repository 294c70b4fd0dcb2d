import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Figure } from './figure.ts'

/** What an agent author adds to a program by importing the library. */
export async function doorFigures(): Promise<Figure[]> {
  const { outputFiles } = await build({
    entryPoints: ['src/index.ts'],
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'esm',
    external: ['@bufbuild/*'],
  })
  const bytes = outputFiles.reduce((sum, file) => sum + gzipSync(file.contents).length, 0)
  return [
    {
      name: 'the library door, minified and gzipped',
      value: bytes / 1_024,
      unit: 'KB',
      goal: 80,
      better: 'at most',
    },
  ]
}
