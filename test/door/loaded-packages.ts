/** Run as a process of its own: prints which packages the library door loads, first alone, then after one `if_expr`. */
import { registerHooks } from 'node:module'

const loaded = new Set<string>()
registerHooks({
  load(url, context, next) {
    const name = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
    if (name !== undefined) loaded.add(name)
    return next(url, context)
  },
})

const { createHooks } = await import('../../src/index.ts')
const hooks = createHooks()
hooks.on('pre_tool_use', { matcher: '^Bash$' }, () => undefined)
await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
const alone = [...loaded].sort()

hooks.on('pre_tool_use', { if_expr: 'tool_name == "Bash"' }, () => undefined)
await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
process.stdout.write(JSON.stringify({ alone, withCondition: [...loaded].sort() }))
