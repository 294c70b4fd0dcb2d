import { z } from 'zod'
import { findAdapter } from '../../agents/table.ts'
import type { AgentReportRow } from '../../store/stores/agent-store.ts'
import { requireAgent } from '../agents/agent-door.ts'
import { defineCall } from './method.ts'
import { noParams, readonlyList, shortText } from './method-fields.ts'

const text = z.string().min(1, 'must not be empty').max(2_000, 'must have at most 2000 characters')

const check = z.strictObject({
  state: z.enum(['ok', 'warn', 'bad']),
  text,
  hint: text.describe('What to do about it.').exactOptional(),
  level: shortText.describe('Which of the agent’s configuration files it concerns.').exactOptional(),
})

const checks = z.array(check).max(500, 'must have at most 500 entries').readonly()

const agentReport = z.object({
  agent: z.string(),
  title: z.string(),
  ok: z.boolean().describe('Whether no check failed.'),
  checks,
  reported_at: z.number(),
})

const list = defineCall({
  name: 'reports.list',
  about: 'The last result of `hookhelm doctor` for each coding agent.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/reports' },
  params: noParams,
  result: z.object({ reports: readonlyList(agentReport) }),
  needs: ['store'],
  async run({ caller, parts }) {
    const rows = await parts.store.listAgentReports(caller.tenant)
    return { reports: rows.map(readReport) }
  },
})

const set = defineCall({
  name: 'reports.set',
  about: 'Stores the result of `hookhelm doctor` for a coding agent, in place of the last one.',
  role: 'operator',
  rest: { verb: 'PUT', path: '/v1/reports/:agent' },
  params: z.strictObject({ agent: shortText, checks }),
  result: z.object({ report: agentReport }),
  needs: ['store', 'clock'],
  async run({ params, caller, parts }) {
    const row: AgentReportRow = {
      tenant_id: caller.tenant,
      agent: requireAgent(params.agent).name,
      report: { checks: params.checks },
      reported_at: parts.clock.now(),
    }
    await parts.store.putAgentReport(row)
    return { report: readReport(row) }
  },
})

function readReport({ agent, report: stored, reported_at }: AgentReportRow): z.output<typeof agentReport> {
  const read = z.object({ checks }).safeParse(stored)
  const found = read.success ? read.data.checks : []
  const ok = read.success && !found.some(({ state }) => state === 'bad')
  return { agent, title: findAdapter(agent)?.title ?? agent, ok, checks: found, reported_at }
}

export const reportMethods = [list, set] as const
