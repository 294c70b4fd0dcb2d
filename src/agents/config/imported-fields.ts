import { HookError } from '../../engine/core/errors/error.ts'
import type { EventRow, Policy } from '../../engine/core/event.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { present } from '../../hook-files/formats/import-format.ts'
import type { FieldReader } from '../../hook-files/formats/import-ledger.ts'
import { resolveCatalogueName } from '../../hook-files/read/read-hook-file.ts'
import { lookUp } from '../translate/tool-names.ts'

export interface FailurePolicies {
  readonly on_error: Policy
  readonly on_timeout: Policy
  readonly on_invalid: Policy
}

export const failOpenPolicies: FailurePolicies = {
  on_error: 'allow',
  on_timeout: 'allow',
  on_invalid: 'allow',
}
export const failClosedPolicies: FailurePolicies = {
  on_error: 'block',
  on_timeout: 'block',
  on_invalid: 'block',
}

/** A misspelt event would never fire, and its hook would guard nothing. */
export function refuseUnknownEvent(event: string, { path, ledger }: FieldReader<object>): void {
  try {
    resolveCatalogueName(event)
  } catch (thrown) {
    if (!(thrown instanceof HookError)) throw thrown
    ledger.use(path)
    ledger.problems.push({ path, part: 'value', error: thrown })
  }
}

/** These agents honour JSON and ignore text. A hook that fails closed must give a readable answer. */
export function importedAnswerMode(
  type: string,
  { on_invalid }: FailurePolicies,
): Pick<HookDefinition, 'answer'> {
  if (type !== 'command' && type !== 'http') return {}
  return { answer: on_invalid === 'block' ? 'strict' : 'lenient' }
}

/** Agents wait for their hooks, unless a hook is async: then its answer changes nothing. */
export function awaited(event: string, isAsync: boolean): Pick<HookDefinition, 'transform' | 'shadow'> {
  if (isAsync) return modeOf(event) === 'gate' ? { shadow: true } : {}
  return event === 'post_tool_use' ? { transform: true } : {}
}

export function takeAsync(reader: FieldReader<{ readonly async?: boolean }>, event: string): boolean {
  const isAsync = reader.take('async') === true
  if (isAsync && modeOf(event) === 'gate')
    reader.note(
      'async',
      'an async hook cannot block, so it became a shadow hook: its answer is only recorded',
    )
  return isAsync
}

function modeOf(event: string): EventRow['mode'] | undefined {
  const rows: Readonly<Record<string, Pick<EventRow, 'mode'>>> = catalogue
  return lookUp(rows, event)?.mode
}

export type HandlerFields = Pick<HookDefinition, 'handler_type' | 'config'>

/** The fields of a webhook or a prompt, in the names that the agents share. */
interface ForeignHandler {
  readonly type?: string
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly prompt?: string
  readonly model?: string
}

/** A hook that cannot be translated. Before a tool call or a prompt it was a guard, so the import is refused. */
export function leaveOut(reader: FieldReader<object>, event: string, why: string, hint?: string): undefined {
  const { path, ledger } = reader
  if (modeOf(event) === 'gate')
    ledger.refuse(
      path,
      `${why}, and without it nothing guards ${event}`,
      hint ?? 'Write this hook by hand; to import the others, remove it from a copy of the file.',
    )
  else ledger.note(path, `${why}; it was left out`)
}

/** Variables in a header, which the agent fills in. */
const headerVariable = /\$\{?[A-Za-z_]/

export function importedHttpFields(
  reader: FieldReader<Pick<ForeignHandler, 'url' | 'headers'>>,
  event: string,
  payload: object,
): HandlerFields | undefined {
  const url = reader.take('url')
  const headers = reader.take('headers')
  if (url === undefined) return leaveOut(reader, event, 'an http hook needs a url')
  if (Object.values(headers ?? {}).some((value) => headerVariable.test(value))) {
    const why = 'Hookhelm fills no variables into headers'
    const hint =
      'Write the value, or `secret:NAME` for a stored secret, in a copy of the file and import the copy.'
    if (modeOf(event) === 'gate') return leaveOut(reader, event, why, hint)
    reader.note('headers', `${why}; write the values, or \`secret:NAME\` for a stored secret`)
  }
  return { handler_type: 'http', config: present({ url, headers, ...payload }) }
}

export function importedPromptFields(
  reader: FieldReader<Pick<ForeignHandler, 'type' | 'prompt' | 'model'>>,
): HandlerFields {
  return {
    handler_type: reader.fields.type ?? 'prompt',
    config: present({
      format: 'openharness',
      prompt: reader.take('prompt'),
      model: reader.take('model'),
    }),
  }
}
