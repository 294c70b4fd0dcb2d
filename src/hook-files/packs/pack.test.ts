import { expect, test } from 'vitest'
import { agentProfiles } from '../../agents/table.ts'
import { findPack, packNames, recommendedPacks } from './pack.ts'

test('a name that no pack has is refused, with the nearest one', () => {
  expect(() => findPack('force-psuh')).toThrow(
    expect.objectContaining({ code: 'config.unknown_pack', hint: 'Did you mean force-push?' }),
  )
  expect(() => findPack('../package')).toThrow(expect.objectContaining({ code: 'config.unknown_pack' }))
})

test('every recommended pack exists, and each pack says what it is about', () => {
  expect(packNames()).toEqual(expect.arrayContaining([...recommendedPacks]))
  for (const name of packNames()) expect(findPack(name).about).toMatch(/^[A-Z].*\.$/)
})

test('one word switches every answer of a pack, and shadow marks every hook', () => {
  const decisions = (name: string, decision: 'ask' | 'block') =>
    new Set(
      [...findPack(name, { decision }).text.matchAll(/\bdecision(?:: | = ')(\w+)/g)].map(([, word]) => word),
    )
  for (const name of packNames().filter((each) => each !== 'pii-redactor')) {
    expect([name, ...decisions(name, 'ask')].filter((word) => word === 'block')).toEqual([])
    const { hooks } = findPack(name, { decision: 'block' })
    for (const { config, handler_type } of hooks)
      if (handler_type === 'answer') expect(config).toMatchObject({ decision: 'block' })
    for (const { shadow } of findPack(name, { shadow: true }).hooks) expect(shadow).toBe(true)
  }
})

test('protect-hooks names the settings of every agent that Hookhelm connects', () => {
  const { text } = findPack('protect-hooks')
  const plain = text.replaceAll('\\', '')
  const host = { env: { HOME: '/root' }, project: '/root', system: '/' }
  for (const { host: agent } of agentProfiles)
    for (const { file } of agent.configFiles(host)) {
      const path = file.replace(/^\/root\//, '')
      const isListed = path.split('/').some((_, count, parts) => {
        const start = parts.slice(0, count + 1).join('/')
        return (
          start.includes('/') && text.includes(`'${start}'`) && plain.includes(start.split('/').at(-1) ?? '')
        )
      })
      expect([path, isListed]).toEqual([path, true])
    }
})

test('protect-hooks also names folders of Hookhelm that the user has moved', () => {
  const { text } = findPack('protect-hooks', {}, { HOME: '/home/me', HOOKHELM_HOME: '/data/"helm"' })
  expect(text).toContain(`path == "/data/\\"helm\\"/trust.json"`)
  expect(text).toContain(`'/data/\\"helm\\"',`)
  expect(text).not.toContain('$HOOKHELM_FOLDER')
  expect(findPack('protect-hooks', {}, { HOME: '/home/me' }).text).not.toContain('$HOOKHELM_FOLDER')
})
