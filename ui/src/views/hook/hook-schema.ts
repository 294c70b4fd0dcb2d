import schema from '../../../../schema/hooks.schema.json'

/** The parts of JSON Schema that our published schema uses. */
export interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly FieldSchema[]
  readonly items?: FieldSchema
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly additionalProperties?: unknown
  readonly required?: readonly string[]
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly const?: unknown
}

interface HookItem extends FieldSchema {
  readonly properties: Readonly<Record<string, FieldSchema>>
  readonly allOf: readonly {
    readonly if: { readonly properties: { readonly handler_type: { readonly const: string } } }
    readonly then: { readonly properties: { readonly config: FieldSchema } }
  }[]
}

const item: HookItem = schema.properties.hooks.items

/** Every field of a hook, from the published schema. */
export const hookFields = item.properties

/** The settings of each handler, from the published schema. */
export const handlerConfigs: ReadonlyMap<string, FieldSchema> = new Map(
  item.allOf.map((rule) => [rule.if.properties.handler_type.const, rule.then.properties.config]),
)

export const eventNames: readonly string[] = hookFields.event?.anyOf?.[0]?.enum ?? []

/** A hook while it is edited: the fields as the schema names them. */
export type HookDraft = Readonly<Record<string, unknown>>

/** The values that the form shows where a new hook has none. */
export const newHook: HookDraft = {
  event: 'pre_tool_use',
  scope: 'tenant',
  matcher: 'Bash(git push --force*)',
  handler_type: 'script',
  config: {
    source: "function handle(event) {\n  return { decision: 'block', reason: 'Push without --force.' }\n}\n",
  },
  timeout_ms: 5000,
  on_timeout: 'block',
  priority: 100,
}

/** What the gateway accepts: the draft without what it adds itself, and without empty values. */
export function toInput(draft: HookDraft): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => name !== 'id' && name in hookFields && !isEmpty(value)),
  )
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || value === null || (Array.isArray(value) && value.length === 0)
}
