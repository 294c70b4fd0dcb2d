import { isoTime } from '../engine/core/values/clock.ts'
import { redact } from '../safe/secrets/redact.ts'
import { escapeSlack } from '../teams/send-team-message.ts'
import type { AnswerLinks } from './approval-links.ts'
import type { ApprovalRow } from './stored/approval-tables.ts'

const MAX_WHAT = 600
const MAX_REASON = 1_000

/** One question in the words of a message. Arguments may hold secrets, so messages show one redacted line of them. */
interface Parts {
  readonly who: string
  readonly where: string | undefined
  readonly what: string
  readonly hook: string
  readonly reason: string
  readonly until: string
}

function partsOf({ agent, requested_by, folder, what, tool, event, ...row }: ApprovalRow): Parts {
  const where = folder?.split(/[\\/]/).findLast(Boolean)
  return {
    who: visible(agent ?? requested_by),
    where: where === undefined ? undefined : visible(where),
    what: visible(redact(what ?? tool ?? event, MAX_WHAT)),
    hook: visible(row.hook_name ?? 'A hook'),
    reason: visible(redact(row.reason, MAX_REASON)),
    until: `${isoTime(row.deadline_at).slice(0, 16).replace('T', ' ')} UTC`,
  }
}

/** Control and direction characters could make a text look like another. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

export function approvalSummary(approval: ApprovalRow): string {
  const { who, where, what } = partsOf(approval)
  return `${who}${where === undefined ? '' : ` in ${where}`} wants ${what}`
}

/** For mail and mailboxes: plain text, so nothing in it can become markup. */
export function approvalText(approval: ApprovalRow, answer: AnswerLinks | string): string {
  const { who, where, what, hook, reason, until } = partsOf(approval)
  const how =
    typeof answer === 'string'
      ? [`Answer in the web app: ${answer}`]
      : [
          `Approve: ${answer.approve}`,
          `Deny:    ${answer.deny}`,
          '',
          'Each link opens a page that shows the exact arguments and asks you to confirm. It works once.',
          'The links answer in your name: do not forward this message.',
        ]
  return [
    `${who}${where === undefined ? '' : ` in ${where}`} wants:`,
    '',
    `    ${what}`,
    '',
    `${hook} asks: ${reason}`,
    `Without an answer the call is denied at ${until}.`,
    '',
    ...how,
    '',
    approval.approval_id,
  ].join('\n')
}

/** Everything that an agent wrote is code: there neither Slack nor Markdown reads links, mentions or emphasis. */
export function approvalSlackText(approval: ApprovalRow, { approve, deny }: AnswerLinks): string {
  const { who, where, what, hook, reason, until } = partsOf(approval)
  const code = (text: string) => `\`${inCode(text)}\``
  return [
    `${code(who)}${where === undefined ? '' : ` in ${code(where)}`} wants`,
    `\`\`\`${inCode(what)}\`\`\``,
    `${code(hook)} asks: ${code(reason)}`,
    `<${approve}|Approve…>   <${deny}|Deny…>   denied at ${until} without an answer`,
  ].join('\n')
}

function inCode(text: string): string {
  return escapeSlack(text.replaceAll('`', 'ˋ'))
}
