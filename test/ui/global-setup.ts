import { prepareChromium } from './chromium.ts'

/** Prepares what the browser tests need, once for all workers. */
export function setup(): void {
  const paths = process.argv.slice(2).filter((word) => word !== 'run' && !word.startsWith('-'))
  const isWanted = paths.length === 0 || paths.some((path) => path.includes('ui'))
  if (isWanted) prepareChromium()
}
