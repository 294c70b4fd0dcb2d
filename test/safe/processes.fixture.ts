import { readdirSync, readFileSync } from 'node:fs'

/** A file of a process in /proc; empty if the process is gone. */
function read(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name))

/** Running processes, without zombies, whose command line contains these words. */
export function alive(words: string): string[] {
  return pids().filter(
    (pid) =>
      read(pid, 'cmdline').replaceAll('\0', ' ').includes(words) && !/^\d+ \(.*\) Z/.test(read(pid, 'stat')),
  )
}

/** Every descendant of a process, children first. */
export function descendants(pid: number | string): string[] {
  const children = pids().filter((other) => parentOf(other) === String(pid))
  return [...children, ...children.flatMap(descendants)]
}

function parentOf(pid: string): string | undefined {
  const stat = read(pid, 'stat')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
}

export function openFiles(pid: number | string = 'self'): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

let last = 700_000 + (process.pid % 1_000) * 100

/** Seconds that no other test sleeps for, so that a sleeper can be found by them. */
export function oddSeconds(): number {
  return last++
}

export const never: AbortSignal = new AbortController().signal
