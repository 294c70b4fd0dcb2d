import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'
import { codeText } from './code-text.fixture.ts'
import { choose, field, hookForm } from './hook-form.fixture.ts'

const gateway = shared()
const { signIn } = browser()
const { newHook, refusalAt, save } = hookForm(gateway, signIn)

describe('the form of a new hook saves', () => {
  test('a webhook with an address', async () => {
    const { page } = await newHook()
    await choose(page, 'http')
    await field(page, 'Address').fill('https://hooks.example.com/test')
    await field(page, 'Headers').fill('{ "X-Team": "shop" }')
    expect(await save(page)).toMatchObject({
      event: 'pre_tool_use',
      handler_type: 'http',
      timeout_ms: 5000,
      on_timeout: 'block',
      priority: 100,
      config: { url: 'https://hooks.example.com/test', headers: { 'X-Team': expect.any(String) } },
    })
  })

  test('a prompt with a matcher: its instruction, its model and how often it may ask', async () => {
    const { page } = await newHook()
    await field(page, 'Applies to').fill('^bash$')
    await choose(page, 'prompt')
    await field(page, 'Instruction').fill('Evaluate the tool call.\nBlock what deletes.')
    await field(page, 'Model').fill('haiku')
    await page.getByRole('textbox', { name: 'Runs per turn' }).first().fill('5')
    expect(await save(page)).toMatchObject({
      handler_type: 'prompt',
      matcher: '^bash$',
      config: {
        prompt_template: 'Evaluate the tool call.\nBlock what deletes.',
        model: 'haiku',
        max_invocations_per_turn: 5,
      },
    })
  })

  test('a matcher that is a pattern', async () => {
    const { page } = await newHook()
    await field(page, 'Applies to').fill('^(bash|python)$')
    expect(await save(page)).toMatchObject({ matcher: '^(bash|python)$' })
  })

  test('an empty matcher as none at all', async () => {
    const { page } = await newHook()
    await field(page, 'Applies to').fill('')
    const hook = await save(page)
    expect([null, undefined]).toContain(hook.matcher)
  })

  test('a script of several lines, as it was typed', async () => {
    const { page } = await newHook()
    const source =
      "function handle(event) {\n  if (event.tool_name === 'x')\n    return { decision: 'block', reason: 'no' }\n}"
    await field(page, 'Script').fill(source)
    expect((await save(page)).config.source).toBe(source)
  })

  test('hooks on each event of the original', async () => {
    const { page } = await newHook()
    for (const event of [
      'session_start',
      'user_prompt_submit',
      'pre_tool_use',
      'post_tool_use',
      'stop',
      'subagent_start',
      'subagent_stop',
    ]) {
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Hooks' }).click()
      await page.getByRole('link', { name: 'New hook' }).click()
      const choice = page.getByRole('combobox', { name: 'Event' })
      await choice.fill(event)
      await page.getByRole('option', { name: event, exact: true }).click()
      await field(page, 'Applies to').fill('')
      expect(await save(page)).toMatchObject({ event })
    }
  })
})

describe('the form of a new hook refuses, and says where', () => {
  test('a prompt without matcher and condition: it would ask a model about every event', async () => {
    const { page } = await newHook()
    await field(page, 'Applies to').fill('')
    await choose(page, 'prompt')
    await field(page, 'Instruction').fill('Evaluate the tool call.')
    expect(await refusalAt(page, 'Applies to')).toContain('matcher or if_expr')
  })

  test('a prompt without an instruction', async () => {
    const { page } = await newHook()
    await choose(page, 'prompt')
    expect(await refusalAt(page, 'Instruction')).toContain('prompt_template')
  })

  test('a webhook without an address', async () => {
    const { page } = await newHook()
    await choose(page, 'http')
    expect(await refusalAt(page, 'Address')).toContain('url')
  })

  test.each([
    ['Applies to', '[invalid(regex', 'matcher'],
    ['Applies to', 'Bash(', 'matcher'],
    ['Only if', 'tool_name ==', 'if_expr'],
    ['Script', 'function handle( {', 'source'],
    ['Script', '', 'source'],
    ['Timeout in ms', '20000', 'timeout_ms'],
  ])('%s: %j', async (name, text, at) => {
    const { page } = await newHook()
    await field(page, name).fill(text)
    expect(await refusalAt(page, name)).toContain(at)
  })

  test('a field of a closed section: the section opens', async () => {
    const { page } = await newHook()
    await page.getByText('YAML', { exact: true }).click()
    const editor = field(page, 'The hook as YAML')
    await editor.fill(`${await codeText(editor)}\nbudget: { name: team }\n`)
    await page.getByText('Form', { exact: true }).click()
    expect(await refusalAt(page, 'Budget')).toContain('limit')
  })

  test('numbers beyond their limits: it keeps the nearest that is allowed', async () => {
    const { page } = await newHook()
    for (const [name, typed, kept] of [
      ['Timeout in ms', '0', '1'],
      ['Timeout in ms', '9999999', '600000'],
      ['Priority', '99999999', '1000000'],
    ] as const) {
      await field(page, name).fill(typed)
      await field(page, name).blur()
      await expect.poll(() => field(page, name).inputValue()).toBe(kept)
    }
  })
})

test('the same hook as text loses nothing', async () => {
  const { page } = await newHook()
  await field(page, 'Name').fill('as-text')
  await page.getByText('YAML', { exact: true }).click()
  const text = await codeText(field(page, 'The hook as YAML'))
  expect(load(text)).toMatchObject({ name: 'as-text', timeout_ms: 5000, handler_type: 'script' })
  await field(page, 'The hook as YAML').fill(text.replace('as-text', 'from-text'))
  await page.getByText('Form', { exact: true }).click()
  expect(await field(page, 'Name').inputValue()).toBe('from-text')
  const before = load(text)
  await page.getByText('YAML', { exact: true }).click()
  expect(load(await codeText(field(page, 'The hook as YAML')))).toEqual({
    ...Object(before),
    name: 'from-text',
  })
})

describe('a code editor', () => {
  test('indents with Tab, is left with Escape and Tab, and has no complaint of the browser', async () => {
    const { page, complaints } = await newHook()
    await field(page, 'Script').fill('function handle() {}')
    await field(page, 'Script').press('Home')
    await field(page, 'Script').press('Tab')
    expect(await codeText(field(page, 'Script'))).toBe('  function handle() {}')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    expect(
      await field(page, 'Script').evaluate((element) => element.ownerDocument.activeElement === element),
    ).toBe(false)
    expect(complaints).toEqual([])
  })

  test('keeps what is typed quickly, key by key', async () => {
    const { page } = await newHook()
    await field(page, 'Script').fill('')
    await field(page, 'Script').pressSequentially('// quick brown foxes && lazy dogs => 1 <= 2')
    expect(await codeText(field(page, 'Script'))).toBe('// quick brown foxes && lazy dogs => 1 <= 2')
  })
})
