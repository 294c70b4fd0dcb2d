import { isRecord } from '../../../engine/core/schema/check.ts'
import { looseObject, nonEmpty, numeric } from '../../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../../engine/core/schema/schema.ts'
import type { HookDefinition } from '../../../engine/hook-definition.ts'
import { type ImportedHook, type ImportFormat, present, translateWith } from '../import-format.ts'
import { FieldReader, type ImportLedger } from '../import-ledger.ts'
import { textIsLog } from './goclaw.ts'

const text = nonEmpty()

const gate = looseObject({
  // The only event that these gates had.
  event: schema.choice(['delegation.completed']),
  type: schema.choice(['command', 'agent']),
  ...schema.partial({
    command: text,
    agent: text,
    prompt: text,
    block_on_failure: schema.boolean(),
    max_retries: numeric(),
    timeout_seconds: numeric(),
  }),
})
type Gate = SchemaType<typeof gate>

const fileSchema = looseObject({ quality_gates: schema.list(gate) })

/** GoClaw's gates from before it had hooks: `quality_gates`, bare or inside `other_config`. */
export function qualityGates(value: unknown) {
  const isAgent = isRecord(value) && isRecord(value.other_config)
  return isAgent ? translateWith(value, ofAgent) : translateWith(value, bare)
}

const bare: ImportFormat<SchemaType<typeof fileSchema>> = {
  schema: fileSchema,
  translate: ({ quality_gates: gates }, ledger) => translateGates(gates, ['quality_gates'], ledger),
}
const ofAgent: ImportFormat<{ other_config: SchemaType<typeof fileSchema> }> = {
  schema: looseObject({ other_config: fileSchema }),
  translate: ({ other_config: { quality_gates: gates } }, ledger) =>
    translateGates(gates, ['other_config', 'quality_gates'], ledger),
}

function translateGates(
  gates: readonly Gate[],
  base: readonly string[],
  ledger: ImportLedger,
): readonly ImportedHook[] {
  return gates.map((each, index) => {
    const from = [...base, index]
    for (const key of Object.keys(gate.fields)) ledger.use([...from, key])
    noteLosses(new FieldReader(each, from, ledger))
    return { from, hook: definition(each) }
  })
}

/** A gate that blocks moves before the delegation, where blocking is possible; the others stay behind it. */
function definition(gate: Gate): HookDefinition {
  const seconds = gate.timeout_seconds
  return {
    event: gate.block_on_failure ? 'subagent_start' : 'subagent_stop',
    ...(gate.type === 'command'
      ? { handler_type: 'command', config: present({ command: gate.command }), ...textIsLog('command') }
      : {
          handler_type: 'prompt',
          matcher: '.*',
          config: { prompt_template: gate.prompt ?? judged(gate.agent) },
        }),
    ...present({ timeout_ms: seconds === undefined ? undefined : Math.round(seconds * 1_000) }),
  }
}

function judged(agent: string | undefined): string {
  return `Judge this delegation as the agent ${agent ?? 'reviewer'} would: block it if it must not go on.`
}

function noteLosses(reader: FieldReader<Gate>): void {
  const { block_on_failure: blocks, type, agent = '', max_retries: retries } = reader.fields
  if (blocks)
    reader.note('block_on_failure', 'the gate now stands before the delegation; it cannot judge its result')
  if (type === 'agent') reader.note('type', `a model judges instead of the agent ${agent}; check its prompt`)
  if (retries) reader.note('max_retries', 'max_retries has no equivalent; a block is immediate')
}
