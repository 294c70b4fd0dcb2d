import { bundleThreads } from './bundled-threads.ts'

export const setup = bundleThreads
