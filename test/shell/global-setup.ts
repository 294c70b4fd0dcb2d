import { installShells } from './install-shells.ts'

/** Installs the shells that the tests of the analyser need, once for all workers. */
export function setup(): void {
  const paths = process.argv.slice(2).filter((word) => word !== 'run' && !word.startsWith('-'))
  if (paths.length === 0 || paths.some((path) => path.includes('shell'))) installShells()
}
