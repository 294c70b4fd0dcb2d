import { compileRules } from '../src/rules/compile-rules.ts'
import type { HookChainRule } from '../src/rules/files/rule-schema.ts'
import { type Figure, ratio } from './figure.ts'
import { race } from './measure.ts'

/** Rules that listen to other events, or to other tools, must not cost anything when one occurs. */
export async function ruleFigures(): Promise<Figure[]> {
  return [
    await compare('an event that no rule listens to, 1000 rules to 10', rulesOfOtherEvents),
    await compare('an event whose tool no rule names, 1000 rules to 10', rulesOfOtherTools),
  ]
}

async function compare(title: string, rulesOf: (count: number) => HookChainRule[]): Promise<Figure> {
  const [few, many] = [compileRules(rulesOf(10)), compileRules(rulesOf(1_000))]
  const event = {
    eventName: 'PostToolUseFailure',
    outcome: 'failed',
    payload: { tool_name: 'Bash', error: 'exit code 1' },
  } as const
  let matched = 0
  const t = await race({
    few: () => {
      matched += few.matching(event).length
    },
    many: () => {
      matched += many.matching(event).length
    },
  })
  if (matched > 0) throw new Error('no rule of this measurement may match')
  return ratio(title, t.many, t.few, 2)
}

function rulesOfOtherEvents(count: number): HookChainRule[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `rule-${n}`,
    trigger: { event: 'TaskCompleted', outcome: 'failed' },
    condition: { errorIncludes: [`error ${n}`] },
    actions: [{ type: 'notify_team' }],
  }))
}

function rulesOfOtherTools(count: number): HookChainRule[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `rule-${n}`,
    trigger: { event: 'PostToolUseFailure', outcome: 'failed' },
    condition: { toolNames: [`Tool${n}`] },
    actions: [{ type: 'notify_team' }],
  }))
}
