import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, vi } from 'vitest'
import type { Conversation, EventData, EventType, OnReview } from '../../src/index.ts'
import { scratchFolder } from './scratch.ts'

/** For tests of checks in the library's process: an empty workspace for each test. */
export class ScratchWorkspace {
  /** The workspace is in it, and the user's configuration. */
  folder = ''
  path = ''

  /** Makes it anew for each test of the file. */
  static each(prepare: (workspace: ScratchWorkspace) => void = () => {}): ScratchWorkspace {
    const workspace = new ScratchWorkspace()
    beforeEach(() => {
      workspace.folder = scratchFolder()
      workspace.path = join(workspace.folder, 'work')
      mkdirSync(workspace.path)
      // The machine's id is kept there.
      vi.stubEnv('XDG_CONFIG_HOME', join(workspace.folder, 'config'))
      prepare(workspace)
    })
    afterEach(() => {
      vi.unstubAllEnvs()
      rmSync(workspace.folder, { recursive: true, force: true, maxRetries: 5 })
    })
    return workspace
  }

  write(name: string, text: string): void {
    const file = join(this.path, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  /** An executable file. */
  script(name: string, ...lines: readonly string[]): void {
    this.write(name, ['#!/bin/sh', ...lines, ''].join('\n'))
    chmodSync(join(this.path, name), 0o755)
  }
}

/** Confirms what is proposed, with every check. */
export const approveAll: OnReview = ({ draft_tasks }) => ({
  action: 'confirm',
  tasks: draft_tasks.map(({ checks = [] }, draft_index) => ({ draft_index, approve: checks.map(({ hash }) => hash) })),
})

/** The events of a type so far, and as many more as it takes. */
export async function seen<T extends EventType>(chat: Conversation, type: T, enough = 0): Promise<EventData[T][]> {
  const found: EventData[T][] = []
  const { seq: head } = await chat.snapshot()
  for await (const { seq, events } of chat.events()) {
    found.push(...events.flatMap(event => (event.type === type ? [event.data as EventData[T]] : [])))
    if (seq >= head && found.length >= enough) break
  }
  return found
}
