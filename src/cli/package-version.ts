import { readFileSync } from 'node:fs'

/** The version in package.json, which is two folders up from both src/cli and dist/cli. */
export function packageVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return manifest.version
}
