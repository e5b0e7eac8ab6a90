import { chmodSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { checkEnvironment, type Place } from '../../src/checks/program.ts'
import { scratchFolder } from './scratch.ts'

/** A shell's command that never ends, without a process to leave behind. */
export const FOREVER = 'sleep 1000'

export interface CheckScene extends Place {
  readonly folder: string
  readonly write: (path: string, content: string | Buffer) => string
  /** An executable file. */
  readonly script: (path: string, ...lines: readonly string[]) => string
}

/**
 * A workspace for one test, with the environment that checks get, and a mark that all their processes carry. What is left
 * of them is killed after the test, should it fail.
 */
export function checkScene(env: Readonly<Record<string, string>> = {}): CheckScene {
  const root = realpathSync(scratchFolder())
  onTestFinished(() => {
    for (const pid of markedWith(root)) process.kill(pid, 'SIGKILL')
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  const folder = join(root, 'work')
  mkdirSync(folder)
  const workspace = { machine: 'here', path: folder }
  const write = (path: string, content: string | Buffer): string => {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    return file
  }
  return {
    folder,
    workspace,
    wrap: [],
    env: checkEnvironment(process.env, workspace, { [MARK]: root, ...env }),
    write,
    script(path, ...lines) {
      const file = write(path, ['#!/bin/sh', ...lines, ''].join('\n'))
      chmodSync(file, 0o755)
      return file
    },
  }
}

/** The ids of the processes of a scene's checks that have not ended. Linux only. */
export const marked = ({ env }: CheckScene): readonly number[] => markedWith(env[MARK] ?? '')

const MARK = 'RUNSHEET_TEST_MARK'

function markedWith(mark: string): readonly number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && environmentOf(name).includes(`${MARK}=${mark}`))
    .map(Number)
}

/** Empty for a process that has ended. */
function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}
