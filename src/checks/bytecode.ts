import { readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { PREFIX } from './bytecode-folder.ts'
import type { Environment } from './environment.ts'
import { globsOf } from './globs.ts'
import type { Start } from './started-files.ts'

/**
 * Tells whether a file is bytecode that Python does not read in this run, because each run has its own bytecode folder.
 * Always false if the user configured another folder, or if the command or one of its scripts starts Python without it.
 */
export function unreadBytecode(start: Start, env: Environment, files: readonly string[]): (path: string) => boolean {
  let isUnread: boolean | undefined
  return path => {
    if (!path.endsWith('.pyc') || !isCached(path)) return false
    isUnread ??= env[PREFIX] === undefined && !textsOf(start, files).some(isForgetful)
    return isUnread
  }
}

const { matches: isCached } = globsOf(['**/__pycache__/*'])

/** Whether a text starts a program without our environment, or overrides its bytecode settings. */
const isForgetful = (text: string): boolean =>
  FORGETS.test(text) || CLEARS.test(text) || IGNORES.test(text) || text.includes(PREFIX)

/** At the start of a command: programs that start others elsewhere, or with another environment. */
const FORGETS =
  /(?:^|[;&|({"'`]|\bexec|\brun|\buvx|\s-m)\s*(?:[^\s"'`;&|(){}]*\/)?(?:docker|doas|podman|ssh|sudo|tox)(?:[\s"'`;&|)]|$)/m
const CLEARS = /\benv\s+(?:-\S+\s+)*(?:-[A-Za-z]*i\b|--ignore-environment\b|-\s)/
const IGNORES = /\b(?:python|pypy)[\d.]*\s+(?:-\S+\s+)*-[A-Za-z]*[EI]/

function textsOf({ root, cwd, run }: Start, files: readonly string[]): readonly string[] {
  const scripts = run.some(word => MANAGERS.test(basename(word))) ? [join(cwd, 'package.json')] : []
  const paths = new Set([...files.map(path => resolve(root, path)), ...scripts])
  return [run.join(' '), ...[...paths].map(scriptIn)]
}

const MANAGERS = /^(?:npm|pnpm|yarn|bun|--run)\b/
/** Larger files are most likely compiled programs. */
const MAX_SCRIPT = 64_000

function scriptIn(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.isFile() && stats.size <= MAX_SCRIPT ? readFileSync(path, 'latin1') : ''
  } catch {
    return ''
  }
}
