import { expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import type { HookDefinition } from '../../engine/core/hook.ts'
import type { hookSchema } from './hook.ts'
import type { HookFile } from './hook-file.ts'

test('the schema of a hook and the hook of the engine are one type, but for the version that a store counts', () => {
  expectTypeOf<z.output<typeof hookSchema>>().toEqualTypeOf<Readonly<Omit<HookDefinition, 'version'>>>()
  expectTypeOf<HookFile['hooks'][number]>().toExtend<HookDefinition>()
})
