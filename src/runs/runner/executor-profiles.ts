import { readFileSync } from 'node:fs'
import { errorText, HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { readSchema, schema } from '../../engine/core/schema/schema.ts'
import { parseSource } from '../../hook-files/read/read-hook-file.ts'
import { checkExecutor, type ExecutorSettings, executorSchema } from '../executor.ts'

const profilesSchema = schema.object({
  profiles: schema.map(executorSchema, 'Executors by the name that blueprints give in `executor.profile`.'),
})

/** Reads one executor from the profiles file of a runner. Throws a coded error that names the problem. */
export function readExecutorProfile(path: string, name: string): ExecutorSettings {
  const source = parseSource(contentOf(path), path)
  if (source instanceof HookError) throw source
  const { value, problems } = readSchema(profilesSchema, source.value)
  const [first] = problems
  if (first !== undefined) throw new HookError(first.code, `${path}: ${first.message}`)
  const found = Object.hasOwn(value.profiles, name) ? value.profiles[name] : undefined
  if (found === undefined)
    throw new HookError('config.field', `${path} has no profile ${JSON.stringify(name)}`, {
      hint: `It has ${Object.keys(value.profiles).join(', ') || 'none'}.`,
    })
  if (found.profile !== undefined)
    throw new HookError('config.field', `${path}: a profile cannot name another profile`)
  checkExecutor(found)
  return found
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw handlerError('config.unreadable', `${path} cannot be read: ${errorText(thrown)}`, {
      hint: 'Name a readable file with --profiles.',
    })
  }
}
