import { chmodSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { checkEnvironment } from '../../src/checks/environment.ts'
import type { Place } from '../../src/checks/hash.ts'
import { scratchFolder } from './scratch.ts'

/** A shell's command that never ends, without a process to leave behind. */
export const FOREVER = 'sleep 1000'

export interface CheckScene extends Place {
  readonly folder: string
  write(path: string, content: string | Buffer): string
  /** An executable file. */
  script(path: string, ...lines: readonly string[]): string
}

/** A workspace for one test, with the environment that checks get, and a mark that all their processes carry. */
export function checkScene(env: Readonly<Record<string, string>> = {}, prefix = ''): CheckScene {
  const root = realpathSync(scratchFolder())
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const folder = join(root, `${prefix}work`)
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
    env: checkEnvironment(process.env, workspace, { RUNSHEET_TEST_MARK: root, ...env }),
    write,
    script(path, ...lines) {
      const file = write(path, ['#!/bin/sh', ...lines, ''].join('\n'))
      chmodSync(file, 0o755)
      return file
    },
  }
}

/** The ids of processes with this mark in their environment that have not ended. Linux only. */
export function marked({ env }: Pick<Place, 'env'>): readonly number[] {
  const mark = `RUNSHEET_TEST_MARK=${env['RUNSHEET_TEST_MARK']}`
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && environmentOf(name).includes(mark))
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
