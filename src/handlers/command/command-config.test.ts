import { describe, expect, test } from 'vitest'
import { prepareConfig } from '../../../test/handlers/handlers.fixture.ts'
import { commandHandler } from './command.ts'

const hook = { id: 'h', event: 'pre_tool_use', handler_type: 'command' }
const refusal = (config: unknown) => {
  try {
    prepareConfig({ ...hook, config })
  } catch (thrown) {
    return thrown
  }
  return undefined
}

describe('a command hook is refused', () => {
  test.each<[string, unknown, string]>([
    ['GC-47 without a config', undefined, 'config.command'],
    ['GC-47 without a command', {}, 'config.command'],
    ['GC-47 with an empty command', { command: '  ' }, 'config.command'],
    ['with a command that is no text', { command: ['ls'] }, 'config.command'],
    ['with both a command and exec', { command: 'ls', exec: ['ls'] }, 'config.exec'],
    ['with an empty exec', { exec: [] }, 'config.exec'],
    ['with an exec that is text', { exec: 'ls -l' }, 'config.exec'],
    ['with a program from the event', { exec: ['$ARGUMENTS'] }, 'config.exec'],
    ['with a cwd that is no text', { command: 'ls', cwd: 1 }, 'config.cwd'],
    ['with a worker that is no flag', { command: 'ls', worker: 'yes' }, 'config.worker'],
    ['with one event for a worker', { command: 'ls $ARGUMENTS', worker: true }, 'config.worker'],
    [
      'with a worker in a foreign format',
      { command: 'ls', worker: true, format: 'openharness' },
      'config.worker',
    ],
    ['with an unknown format', { command: 'ls', format: 'xml' }, 'config.format'],
    ['with an unknown field', { command: 'ls', commnd: 'ls' }, 'config.commnd'],
    ['with variables that are no list', { command: 'ls', allowed_env_vars: 'A' }, 'config.allowed_env_vars'],
  ])('%s', (_, config, at) => {
    expect(refusal(config)).toMatchObject({ code: 'config.field', at })
  })

  test.each([
    ...[
      'LD_PRELOAD',
      'NODE_OPTIONS',
      'PATH',
      'LD_LIBRARY_PATH',
      'DYLD_INSERT_LIBRARIES',
      'BASH_ENV',
      'ENV',
      'IFS',
    ],
    ...[
      'PYTHONPATH',
      'PERL5OPT',
      'RUBYOPT',
      'BASH_FUNC_ls%%',
      'HOOKHELM_SECRET_KEY',
      'ld_preload',
      'A=B',
      '',
    ],
  ])('4.4 #61 with %j among the variables', (name) => {
    const config = { command: 'ls', allowed_env_vars: ['FINE', name] }
    expect(refusal(config)).toMatchObject({ code: 'config.field', at: 'config.allowed_env_vars' })
  })

  test('4.2 #33 in the standard edition, when saved and when run', async () => {
    const standard = commandHandler.create({ edition: 'standard' })
    expect(() => standard.read({ command: 'ls' }, hook)).toThrow(
      expect.objectContaining({ code: 'handler.not_in_edition' }),
    )
    await expect(async () => standard.run({} as never)).rejects.toMatchObject({
      code: 'handler.not_in_edition',
    })
  })
})

test('the hint has the nearest field', () => {
  expect(refusal({ comand: 'ls' })).toMatchObject({ hint: 'Did you mean command?' })
})
