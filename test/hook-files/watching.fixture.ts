import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { block } from '../../src/engine/core/decision.ts'
import type { Handler } from '../../src/engine/core/handler.ts'
import { createHooks } from '../../src/engine/dispatch/hooks.ts'
import type { HookFolder } from '../../src/hook-files/hook-folders.ts'
import { trustStore } from '../../src/hook-files/trust.ts'
import { watchHookFiles } from '../../src/hook-files/watch/watch-hook-files.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { recorder } from '../../src/testing/recorder.ts'
import { scratchFolder } from './files.fixture.ts'

const says: Handler = { type: 'says', read: (config) => config, run: ({ config }) => block(String(config)) }

/** Hooks that follow files in a folder of their own; time moves only when the test moves it. */
export function workshop() {
  const folder = scratchFolder()
  const clock: FakeClock = fakeClock()
  const { log, lines } = recorder()
  const hooks = createHooks({ handlers: [says] })
  const trust = trustStore(join(folder, 'state', 'trust.json'))
  const folderOf = (level: HookFolder['level']): HookFolder => ({
    level,
    label: level,
    folder: join(folder, level),
  })
  return {
    hooks,
    lines,
    clock,
    trust,
    folderOf,
    file: (level: HookFolder['level'], name = 'hooks.yaml') => join(folder, level, name),
    ids: () => hooks.list().map(({ id }) => id),
    /** Whom the next call is blocked by. */
    async blockedBy() {
      return (await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })).by
    },
    watch(
      levels: readonly HookFolder['level'][] = ['user'],
      given: Parameters<typeof watchHookFiles>[0]['clock'] = clock,
    ) {
      const watching = watchHookFiles({
        folders: levels.map(folderOf),
        apply: ({ folder }, definitions) => hooks.replace(folder, definitions),
        log,
        trust,
        clock: given,
        handlers: [says],
      })
      onTestFinished(() => watching.close())
      return watching
    },
    /** Long enough for a poll and for a file that became shorter to be believed. */
    settle: () => clock.advance(3_000),
  }
}
