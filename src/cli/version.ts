import { readFileSync } from 'node:fs'

/** Two folders up, whether this is src/cli or dist/cli. */
export function version(): string {
  const about: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return about.version
}
