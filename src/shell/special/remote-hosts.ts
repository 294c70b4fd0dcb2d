import { optionValues } from '../commands/parse-options.ts'
import type { ProgramCall } from '../commands/program-call.ts'
import { addAddress, addCopyHost, addHost, addUrl } from '../commands/record-hosts.ts'
import { describeField } from '../expand/shell-text.ts'

const remoteGit = new Set(['clone', 'push', 'pull', 'fetch', 'ls-remote', 'submodule', 'remote'])

export function recordGitHosts(call: ProgramCall): void {
  const [, level] = call.levels
  const subcommand = level?.name.split(' ')[1] ?? ''
  if (level === undefined || !remoteGit.has(subcommand)) return
  const { operands } = level.parsed
  const address = operands.find((field) => /^\w+:\/\/|^[^/:]+@?[^/:]*:/.test(describeField(field)))
  if (address) return addCopyHost(call, address)
  if (subcommand === 'remote' || subcommand === 'submodule') return
  // A remote has a name in the configuration of the repository.
  addHost(call, operands[0] ? describeField(operands[0]) : 'origin', 'unknown')
}

/** The registry of an image, and the machine that `docker -H` names. */
export function recordImageHost(call: ProgramCall): void {
  const [{ parsed }, level] = call.levels
  for (const address of optionValues(parsed.options, 'H')) addUrl(call, address)
  const subcommand = level?.name.split(' ')[1] ?? ''
  if (typeof level?.record.runs !== 'object') for (const arg of call.args) addAddress(call, arg)
  if (level === undefined || !/^(pull|push|run|login|create)$/.test(subcommand)) return
  const { operands } = level.parsed
  // `docker login --username me registry.test`
  const isLogin = subcommand === 'login'
  const named = isLogin ? operands.at(-1) : operands[0]
  const image = named ? describeField(named) : ''
  const [first = ''] = image.split('/')
  addHost(call, (isLogin || image.includes('/')) && /[.:]/.test(first) ? first : 'docker.io', 'exact')
}
