import { type Dialect, failsOpen } from './dialect.ts'

/** `hooks` in Gemini CLI's `settings.json`. */
export const geminiCli: Dialect = {
  layout: 'groups',
  // Older versions had their switches here.
  notEvents: ['enabled', 'disabled', 'notifications'],
  timeoutMs: ({ timeout = 60_000 }) => timeout,
  policies: () => failsOpen,
  variables: ['GEMINI_PROJECT_DIR', 'GEMINI_SESSION_ID', 'CLAUDE_PROJECT_DIR'],
}
