import type { ApplyPatchTool, ComputerTool, RunContext, ShellTool } from '@openai/agents'
import { isRecord } from '../../engine/core/check.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { copyWith } from '../clone-for-hooks.ts'
import { blocked, messageOf } from '../refusal.ts'
import type { AgentsToolGate } from './tool-gate.ts'

type ActionTool = ShellTool | ApplyPatchTool | ComputerTool
type Needs = (context: RunContext, action: unknown, callId?: string) => Promise<boolean>
type OnApproval = (context: RunContext, item: unknown) => Promise<{ approve?: boolean; reason?: string }>

/** Shell, patches and the computer: they can be refused and asked about; an input that a hook changed cannot be delivered. */
export function guardedAction<T extends ActionTool>(tool: T, gate: AgentsToolGate): T {
  const { name } = tool
  const own = tool as { readonly needsApproval?: unknown; readonly onApproval?: OnApproval }
  const refusing = new WeakMap<RunContext, Map<string, string>>()
  const answers = tool.type === 'shell' || tool.type === 'apply_patch'

  const needsApproval: Needs = async (context, action, callId = '') => {
    const decision = await gate.ask(context, { name, callId, input: action })
    const refusal = refusalOf(decision)
    if (refusal !== undefined) {
      // Only some have a way to refuse one call; for the others it ends the run.
      if (!answers) throw blocked(refusal)
      refusing.set(context, (refusing.get(context) ?? new Map()).set(callId, refusal))
      return true
    }
    if (decision.kind === 'ask') return true
    if (decision.grant === true) return false
    return typeof own.needsApproval === 'function'
      ? own.needsApproval(context, action, callId)
      : own.needsApproval === true
  }
  const onApproval: OnApproval = async (context, item) => {
    const reason = refusing.get(context)?.get(callIdOf(item))
    if (reason !== undefined) return { approve: false, reason }
    return (await own.onApproval?.(context, item)) ?? {}
  }
  return copyWith(tool, { needsApproval, ...(answers ? { onApproval } : {}) })
}

function refusalOf(decision: Decision): string | undefined {
  if (decision.kind === 'block') return messageOf(decision)
  if (decision.input !== undefined)
    return `a hook changed this, and the change cannot be delivered: ${messageOf(decision)}`
  return undefined
}

function callIdOf(item: unknown): string {
  const raw = isRecord(item) ? item.rawItem : undefined
  const id = isRecord(raw) ? (raw.callId ?? raw.id) : undefined
  return typeof id === 'string' ? id : ''
}
