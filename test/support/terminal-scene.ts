import { mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Check, CheckSpec } from '../../src/core/proof/check.ts'
import { listed } from '../../src/core/model/conversation.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { SomeFields } from '../../src/core/model/fields.ts'
import type { PolicyPatch } from '../../src/core/model/policy.ts'
import type { Task } from '../../src/core/model/task.ts'
import { plainMaker } from '../../src/engine/door/checks.ts'
import { type Door, openDoor } from '../../src/engine/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { scratchFolder } from './scratch.ts'

/** A project with a data folder of its own, and a home folder without one. */
export interface Site {
  readonly folder: string
  readonly home: string
  readonly data: string
}

export function site(): Site {
  const root = realpathSync(scratchFolder())
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const [folder, home] = [join(root, 'site'), join(root, 'home')]
  mkdirSync(folder)
  mkdirSync(home)
  return { folder, home, data: join(folder, '.runsheet') }
}

/** Where the turns of a scene have their checks. */
export const workspaceIn = (folder: string): { machine: string; path: string } => ({ machine: 'desk-1', path: folder })

/** A model's check. */
export const checkIn = (folder: string, spec: CheckSpec, id = 'c1'): Check => ({
  ...spec,
  id,
  hash: plainMaker.hash(spec, workspaceIn(folder)),
})

type Row = SomeFields & { readonly title: string }

/** An agent elsewhere, in one conversation of a data folder. */
export class Agent {
  readonly #door: Door
  readonly #at: { readonly tenant: string; readonly conversation: string }
  #calls = 0

  constructor(door: Door, conversation: string) {
    this.#door = door
    this.#at = { tenant: 'local', conversation }
  }

  async opens(
    host: PolicyPatch = {},
    more: { client?: string; workspace?: { machine: string; path: string } } = {},
  ): Promise<this> {
    await this.#door.run(this.#at, { type: 'open_turn', turn_id: 'plan_1', toolset: 'runsheet', host, ...more })
    return this
  }

  /** Writes tasks, or asks for a review of them: then it resolves with its id. */
  async plans(...rows: readonly (string | Row)[]): Promise<string> {
    this.#calls += 1
    const review_id = `rev_${this.#door.newId()}`
    const review = { review_id, tool_call_id: `call-${this.#calls}`, toolset: 'runsheet', tool: 'plan' } as const
    const create = rows.map(row => ({ id: this.#door.newId(), ...(typeof row === 'string' ? { title: row } : row) }))
    await this.#door.run(this.#at, { type: 'edit_tasks', by: 'model', turn_id: 'plan_1', create, review })
    return review_id
  }

  async settles(task: number, fields: SomeFields): Promise<void> {
    const change = [{ task, fields }]
    await this.#door.run(this.#at, { type: 'edit_tasks', by: 'model', turn_id: 'plan_1', change })
  }

  async disputes(task: number, outcome: string): Promise<void> {
    const change = [{ task, fields: { outcome }, disputes: true }] as const
    await this.#door.run(this.#at, { type: 'edit_tasks', by: 'model', turn_id: 'plan_1', change })
  }

  async tasks(): Promise<readonly Task[]> {
    return listed(await this.#door.read(this.#at))
  }

  resolution(): Promise<readonly StoredEvent[]> {
    return this.#door.conversations.events(this.#at, { types: ['task_create_review_resolved'] })
  }

  approvals(): Promise<readonly StoredEvent[]> {
    return this.#door.conversations.events(this.#at, { types: ['check_approved'] })
  }

  async titles(): Promise<string[]> {
    return (await this.tasks()).map(({ title }) => title)
  }
}

/** The door to the data folder of a site, beside the program under test. */
export async function doorAt({ data }: Site): Promise<Door> {
  const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }) })
  onTestFinished(() => door.close())
  return door
}
