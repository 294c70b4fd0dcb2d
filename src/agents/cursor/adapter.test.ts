import { describe, expect, test } from 'vitest'
import { payload, rewriting, said } from '../../../test/agents/payloads.fixture.ts'
import { repliesOf } from '../../../test/agents/replies.fixture.ts'
import { cursorAdapter } from './adapter.ts'

/** Nothing to say: an entry that fails closed may take no output for a failure. */
const nothing = said({})
const context = said({ additional_context: 'be brief' })
const permission = (kind: string, message: string) =>
  said({ permission: kind, user_message: message, agent_message: message })
const asking = {
  grant: said({ permission: 'allow' }),
  ask: permission('ask', 'are you sure?'),
  block: permission('deny', 'not here'),
}
const strict = { ...asking, ask: permission('deny', 'are you sure?') }

describe('Cursor is answered as its documentation says', () => {
  repliesOf(cursorAdapter, nothing, {
    preToolUse: {
      replies: strict,
      rewrite: [
        { command: 'true', working_directory: '/' },
        said({ permission: 'allow', updated_input: { command: 'true', working_directory: '/' } }),
      ],
    },
    'preToolUse.write': {
      replies: strict,
      rewrite: [
        { file_path: 'b.md', content: 'x' },
        said({ permission: 'allow', updated_input: { path: 'b.md', contents: 'x' } }),
      ],
    },
    beforeShellExecution: { replies: asking },
    beforeMCPExecution: { replies: asking },
    beforeReadFile: { replies: strict },
    beforeTabFileRead: { replies: strict },
    subagentStart: { replies: strict },
    postToolUse: { replies: { context } },
    sessionStart: { replies: { context } },
    beforeSubmitPrompt: { replies: { block: said({ continue: false, user_message: 'not here' }) } },
    stop: { replies: { block: said({ followup_message: 'not here' }) } },
  })

  test('arguments that a hook made something else of are not run', () => {
    expect(cursorAdapter.reply('preToolUse', rewriting('ls'), payload('cursor', 'preToolUse'))).toMatchObject(
      permission('deny', 'a hook changed the arguments into something else: use this one'),
    )
  })
})
