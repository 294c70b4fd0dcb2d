import { type Dialect, failsOpen } from './dialect.ts'

/** Codex's `hooks.json`. */
export const codex: Dialect = {
  layout: 'groups',
  timeoutMs: ({ timeout = 600 }) => timeout * 1_000,
  policies: () => failsOpen,
  variables: [],
}
