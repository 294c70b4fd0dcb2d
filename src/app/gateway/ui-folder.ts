import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the build of the web app is: in the package, or in a clone after `npm run build:ui`. */
const folder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../ui/dist' : '../../ui', import.meta.url),
)

/** The folder of the web app; undefined if it was not built. */
export function findUiFolder(): string | undefined {
  return existsSync(folder) ? folder : undefined
}
