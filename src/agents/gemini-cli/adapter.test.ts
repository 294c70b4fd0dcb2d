import { describe, expect, test } from 'vitest'
import { payload, refused, rewriting, said, silent } from '../../../test/agents/payloads.fixture.ts'
import { repliesOf } from '../../../test/agents/replies.fixture.ts'
import { geminiCliAdapter } from './adapter.ts'

const specific = (hookEventName: string, output: object) =>
  said({ hookSpecificOutput: { hookEventName, ...output } })
const context = (hookEventName: string) => specific(hookEventName, { additionalContext: 'be brief' })
const request = payload('gemini-cli', 'BeforeModel').llm_request as Record<string, unknown>
const answer = { candidates: [{ content: { role: 'model', parts: ['hi'] } }] }

test('a sub-agent is started by the tool that hooks know as Agent', () => {
  const native = {
    session_id: 's',
    tool_name: 'invoke_agent',
    tool_input: { agent_name: 'codebase_investigator', prompt: 'look around' },
  }
  expect(geminiCliAdapter.read('BeforeTool', native).payload).toMatchObject({
    tool_name: 'Agent',
    native_tool_name: 'invoke_agent',
    tool_input: { subagent_type: 'codebase_investigator', prompt: 'look around' },
  })
})

describe('Gemini CLI is answered in its own words', () => {
  repliesOf(geminiCliAdapter, silent, {
    BeforeTool: {
      replies: { ask: refused('are you sure?'), block: refused('not here') },
      rewrite: [
        { command: 'true', description: 'Do nothing' },
        specific('BeforeTool', { tool_input: { command: 'true', description: 'Do nothing' } }),
      ],
    },
    AfterTool: {
      replies: { context: context('AfterTool') },
      rewrite: [{ llmContent: '***', returnDisplay: '***' }, said({ decision: 'deny', reason: '***' })],
    },
    'AfterTool.error': {
      replies: { context: context('AfterTool') },
      rewrite: ['***', said({ decision: 'deny', reason: '***' })],
    },
    BeforeAgent: { replies: { block: refused('not here'), context: context('BeforeAgent') } },
    AfterAgent: { replies: { block: said({ decision: 'deny', reason: 'not here' }) } },
    SessionStart: { replies: { context: context('SessionStart') } },
    BeforeModel: {
      replies: {},
      rewrite: [
        { ...request, model: 'gemini-2.5-pro' },
        specific('BeforeModel', { llm_request: { model: 'gemini-2.5-pro' } }),
      ],
    },
    AfterModel: { replies: {}, rewrite: [answer, specific('AfterModel', { llm_response: answer })] },
  })

  test('a request that is handed back as it was is not touched', () => {
    const native = payload('gemini-cli', 'BeforeModel')
    expect(geminiCliAdapter.reply('BeforeModel', rewriting({ ...request }), native)).toEqual(silent)
  })

  test('words for the model go into the output that replaces another', () => {
    const outcome = { ...rewriting('***'), context: 'note' }
    expect(geminiCliAdapter.reply('AfterTool', outcome, payload('gemini-cli', 'AfterTool'))).toEqual(
      said({ decision: 'deny', reason: '***\n\nnote' }),
    )
  })

  test('an output of which nothing is left still replaces the old one', () => {
    expect(geminiCliAdapter.reply('AfterTool', rewriting(''), {})).toEqual(
      said({ decision: 'deny', reason: 'a hook removed this output' }),
    )
  })
})

describe('its input is laid over the old one, so an argument that a hook leaves out', () => {
  test('is set to what says the same, where there is such a value', () => {
    const native = payload('gemini-cli', 'BeforeTool')
    expect(geminiCliAdapter.reply('BeforeTool', rewriting({ command: 'ls' }), native)).toEqual(
      specific('BeforeTool', { tool_input: { command: 'ls', description: '' } }),
    )
  })

  test('blocks otherwise', () => {
    const native = { tool_name: 'read_file', tool_input: { file_path: 'a', start_line: 1 } }
    expect(geminiCliAdapter.reply('BeforeTool', rewriting({ file_path: 'a' }), native)).toEqual(
      refused(
        'a hook left out the argument start_line, and Gemini CLI cannot take one away here: use this one',
      ),
    )
  })

  test('blocks also when nothing is left of the arguments', () => {
    const native = payload('gemini-cli', 'BeforeTool')
    expect(geminiCliAdapter.reply('BeforeTool', rewriting({}), native)).toMatchObject({ exit: 2 })
    expect(geminiCliAdapter.reply('BeforeTool', rewriting('ls'), native)).toMatchObject({ exit: 2 })
  })

  test('goes back under the name it came with', () => {
    for (const theirs of ['file_path', 'absolute_path']) {
      const native = { tool_name: 'read_file', tool_input: { [theirs]: 'a' } }
      expect(geminiCliAdapter.reply('BeforeTool', rewriting({ file_path: 'b' }), native)).toEqual(
        specific('BeforeTool', { tool_input: { [theirs]: 'b' } }),
      )
    }
  })
})
