import { expect, test } from 'vitest'
import { ACME, openTestMethods } from '../../test/gateway/test-methods.fixture.ts'
import { Approvals } from './approvals.ts'

const question = {
  ...{ tenant_id: ACME, event: 'pre_tool_use', event_id: 'e1', hook_id: null, hook_name: null, agent: null },
  ...{ session_id: 's1', run_id: null, folder: null, tool: 'Bash', what: null, reason: 'sure?' },
  ...{
    input: { command: 'git push' },
    requested_by: 'ada',
    caller_id: 'ada',
    caller_key: 'session s1',
    member_id: null,
    approvers_needed: 1,
    within_ms: 500,
  },
}

test('a question that the next identical call ends has its step in the audit', async () => {
  const { store, clock, close } = await openTestMethods()
  const steps: (readonly [id: string | undefined, step: string])[] = []
  const approvals = new Approvals({
    ...{ store, clock, log: () => {}, changed: () => {}, wakeDeliveries: () => {} },
    steps: { record: async (_tenant, id, { step }) => void steps.push([id, step]) },
  })
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      const onPending = ({ approvalId }: { approvalId: string }) => resolve(approvalId)
      approvals.ask(question, { withinMs: 400, onPending }).catch(reject)
    })
  const first = await ask()
  // The sweep of expired questions comes after a second.
  await clock.advance(600)
  const second = await ask()
  expect(steps).toEqual([
    [first, 'requested'],
    [first, 'expired'],
    [second, 'requested'],
  ])
  await clock.advance(400)
  await approvals.close()
  await close()
})
