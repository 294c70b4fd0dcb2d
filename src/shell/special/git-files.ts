import { hasOption } from '../commands/parse-options.ts'
import type { FileCall } from '../commands/program-call.ts'
import { fileText } from '../evaluate/script-content.ts'
import { describeField, exactField, knownText } from '../expand/shell-text.ts'
import { addPatchFiles } from './apply-patch.ts'

export function gitApply({ parsed: { options, operands }, add, invocation }: FileCall): void {
  if (hasOption(options, 'check', 'stat', 'numstat', 'summary')) return
  const [file] = operands
  const text = knownText(file ? fileText(file, invocation.state) : invocation.frame.stdin)
  if (text === undefined) add('writes', exactField('.'), '/**')
  else addPatchFiles(text, 1, add)
}

export function gitCheckout({ parsed, add, addTree, invocation }: FileCall): void {
  const dashes = invocation.args.findIndex((arg) => describeField(arg) === '--')
  const paths =
    dashes === -1
      ? parsed.operands.filter(
          (field, index) => index > 0 || /^\.{1,2}(\/|$)|\.\w+$/.test(describeField(field)),
        )
      : invocation.args.slice(dashes + 1)
  if (hasOption(parsed.options, 'b', 'B', 'orphan')) return
  for (const field of paths) addTree('writes', field)
  if (hasOption(parsed.options, 'f')) add('writes', exactField('.'), '/**')
}

export function gitClean({ parsed: { options, operands }, add }: FileCall): void {
  if (hasOption(options, 'n')) return
  for (const field of operands.length === 0 ? [exactField('.')] : operands) add('deletes', field, '/**')
}

export function gitReset({ parsed: { options }, add }: FileCall): void {
  if (hasOption(options, 'hard', 'merge', 'keep')) add('writes', exactField('.'), '/**')
}

/** What git shows of files: those after `--`, and names that are no revisions. */
export function gitShow({ parsed: { options, operands }, add, invocation }: FileCall): void {
  const dashes = invocation.args.findIndex((arg) => describeField(arg) === '--')
  const paths = dashes === -1 ? [] : invocation.args.slice(dashes + 1)
  for (const field of hasOption(options, 'no-index') ? operands : paths) add('reads', field)
  for (const field of operands) if (/^\.[\w/.]/.test(describeField(field))) add('reads', field)
}
