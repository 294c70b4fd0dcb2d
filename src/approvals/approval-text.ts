import { isoTime } from '../engine/core/time/clock.ts'
import { visibleLine } from '../engine/core/values/visible-text.ts'
import { redact } from '../safe/secrets/redact.ts'
import { escapeSlack } from '../teams/send-team-message.ts'
import type { AnswerLinks } from './approval-links.ts'
import type { ApprovalRow } from './stored/approval-tables.ts'

const MAX_NAME = 60
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
    who: oneLine(agent ?? requested_by, MAX_NAME),
    where: where === undefined ? undefined : oneLine(where, MAX_NAME),
    what: oneLine(what ?? tool ?? event, MAX_WHAT),
    hook: oneLine(row.hook_name ?? 'A hook', MAX_NAME),
    reason: oneLine(row.reason, MAX_REASON),
    until: `${isoTime(row.deadline_at).slice(0, 16).replace('T', ' ')} UTC`,
  }
}

/** What an agent wrote: without secrets, and with characters shown that could make it look like another text. */
function oneLine(text: string, max: number): string {
  return visibleLine(redact(text, max))
}

const LINE = 72

/** What an agent wrote, in a mail: every line is marked as a quotation, and no program makes a link of it. */
function quoted(text: string): string {
  const lines = withoutLinks(text).match(new RegExp(`.{1,${LINE}}`, 'gu')) ?? ['']
  return lines.map((line) => `> ${line}`).join('\n')
}

function withoutLinks(text: string): string {
  return text.replaceAll(/:(?=\/\/)/g, '[:]').replaceAll(/\bwww\./gi, 'www[.]')
}

export function approvalSummary(approval: ApprovalRow): string {
  const { who, where, what } = partsOf(approval)
  return withoutLinks(`${who}${where === undefined ? '' : ` in ${where}`} wants ${what}`)
}

/**
 * For mail and mailboxes: plain text, so nothing in it can become markup. No line begins with what an agent or the author
 * of a hook wrote: it could look like the lines that answer.
 */
export function approvalText(approval: ApprovalRow, answer: AnswerLinks | string): string {
  const { who, where, what, hook, reason, until } = partsOf(approval)
  const how =
    typeof answer === 'string'
      ? [`Answer in the web app: ${answer}`]
      : [
          `Approve: ${answer.approve}`,
          `Deny:    ${answer.deny}`,
          '',
          'Each link opens a page that shows the exact arguments and asks you to confirm. It works once, for one call.',
          'The links answer in your name: do not forward this message.',
        ]
  return [
    'An agent wants to make this call:',
    '',
    quoted(what),
    '',
    'It comes from:',
    '',
    quoted(`agent: ${who}`),
    ...(where === undefined ? [] : [quoted(`folder: ${where}`)]),
    '',
    'A hook asks a person about it:',
    '',
    quoted(`hook: ${hook}`),
    quoted(`reason: ${reason}`),
    '',
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
