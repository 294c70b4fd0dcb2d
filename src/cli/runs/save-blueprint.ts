import type { Client } from '../../client/client.ts'
import { HookError, isHookError } from '../../engine/core/errors/error.ts'
import { command, exitCodes } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'
import { clientOptions, connectionArgs, withGateway } from '../remote/connection.ts'
import { readData } from '../remote/data.ts'

type Definition = Readonly<Record<string, unknown>>

export const saveBlueprintCommand = command({
  meta: { name: 'save', description: 'Creates an agent, or replaces the one with its name.' },
  args: {
    file: { type: 'string', description: 'the blueprint as YAML or JSON, - for stdin' },
    data: { type: 'string', description: 'the blueprint as YAML or JSON' },
    ...connectionArgs,
  },
  manyWords: true,
  async run(args, rest) {
    const file = args.file ?? rest[0]
    if (file === undefined && args.data === undefined)
      throw new HookError('input.schema', 'the blueprint is missing', {
        hint: 'hookhelm blueprints save agent.json',
      })
    const definition = readData({ ...args, ...(file === undefined ? {} : { file }) })
    const { isNew, answer } = await withGateway(clientOptions(args), (client) =>
      saveDefinition(client, definition),
    )
    const { name, version } = answer.blueprint
    printOutput(args.json ? answer : `${isNew ? 'created' : 'replaced'} ${name}, version ${version}`)
    if (!args.json) for (const warning of answer.warnings) printMessage(`warning: ${warning}`)
    return exitCodes.ok
  },
})

/** Creates the agent, or replaces the one with its name. */
async function saveDefinition(client: Client, definition: Definition) {
  const name = typeof definition.name === 'string' ? definition.name : ''
  const stored = name === '' ? undefined : await findDefinition(client, name)
  if (stored === undefined)
    return { isNew: true, answer: await client.call('blueprints.create', { ...definition, name }) }
  const changes = replacementOf(stored, definition)
  return { isNew: false, answer: await client.call('blueprints.update', { ...changes, name }) }
}

async function findDefinition(client: Client, name: string): Promise<Definition | undefined> {
  try {
    const { source, definition } = (await client.call('blueprints.show', { name })).blueprint
    // Saving one of its name replaces it.
    return source === 'builtin' ? undefined : definition
  } catch (error) {
    if (isHookError(error) && error.code === 'gateway.not_found') return undefined
    throw error
  }
}

/** An update keeps fields that it does not name; a file stands for the whole agent. */
function replacementOf(stored: Definition, definition: Definition): Definition {
  const removed = Object.keys(stored).filter((key) => !Object.hasOwn(definition, key))
  // In an update, `hooks: null` would keep the stored hooks.
  const hooks = definition.hooks ?? {}
  return { ...Object.fromEntries(removed.map((key) => [key, null])), ...definition, hooks }
}
