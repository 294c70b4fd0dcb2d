import { findAdapter } from '../../agents/table.ts'
import { looseObject, numeric, shortList, withAbout } from '../../engine/core/schema/more-schemas.ts'
import { readIfValid } from '../../engine/core/schema/read-checked.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { noParams, shortText } from '../../methods/method-fields.ts'
import type { AgentReportRow } from '../../stored-hooks/report-tables.ts'
import { requireAgent } from './agent-door.ts'

const text = schema.text(undefined, { minLength: 1, maxLength: 2_000 })

const check = schema.object({
  state: schema.choice(['ok', 'warn', 'bad']),
  text,
  hint: schema.optional(withAbout(text, 'What to do about it.')),
  level: schema.optional(shortText('Which of the agent’s configuration files it concerns.')),
})

const checks = shortList(check, 500)

const agentReport = schema.object({
  agent: schema.text(),
  title: schema.text(),
  ok: schema.boolean('Whether no check failed.'),
  checks,
  reported_at: numeric(),
})

const list = defineCall({
  name: 'reports.list',
  about: 'The last result of `hookhelm doctor` for each coding agent.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/reports' },
  params: noParams,
  result: schema.object({ reports: schema.list(agentReport) }),
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
  params: schema.object({ agent: shortText(), checks }),
  result: schema.object({ report: agentReport }),
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

function readReport({ agent, report: stored, reported_at }: AgentReportRow): SchemaType<typeof agentReport> {
  const read = readIfValid(looseObject({ checks }), stored)
  const found = read?.checks ?? []
  const ok = read !== undefined && !found.some(({ state }) => state === 'bad')
  return { agent, title: findAdapter(agent)?.title ?? agent, ok, checks: found, reported_at }
}

export const reportMethods = [list, set] as const
