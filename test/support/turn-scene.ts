import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { configuredModels } from '../../src/models/models.ts'
import { givenTools, type OutsideTools } from '../../src/engine/worker/outside.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type Child, runChild } from './children.ts'
import { freshDatabase } from './postgres.ts'
import { scratchFolder } from './scratch.ts'
import type { TurnChildOrder } from './turn-child.ts'
import { faultsIn, outsideTools, type Story, toldBy, ToolServer } from './turn-story.ts'
import { type ChatReader, confirmAll, MODEL, startTurns, type TestTurns } from './turns.ts'

export const LEASE_MS = 300

/** A server without a runner, the tools, and child processes that drive turns. */
export class Scene {
  readonly turns: TestTurns
  readonly tools: ToolServer
  readonly story: Story
  readonly #order: TurnChildOrder
  readonly #children: Child[] = []
  readonly #ends: (() => Promise<unknown>)[] = []

  private constructor(story: Story, turns: TestTurns, tools: ToolServer, order: TurnChildOrder) {
    this.story = story
    this.turns = turns
    this.tools = tools
    this.#order = order
  }

  static async play(
    story: Story,
    work: (scene: Scene) => Promise<void>,
    store: 'sqlite' | 'postgres' = 'sqlite',
  ): Promise<void> {
    const folder = scratchFolder()
    const database = store === 'postgres' ? await freshDatabase(inject('postgresUrl')) : undefined
    const at = database?.url ?? join(folder, 'runsheet.db')
    const opened = database ? await openPostgresStore({ url: at }) : await openSqliteStore({ path: at })
    const turns = await startTurns({
      door: openDoor({ store: opened }),
      isIdle: true,
      answers: toldBy(story),
    })
    const tools = await ToolServer.start()
    const order = { store, at, model: MODEL, provider: turns.provider.url, tools: tools.url, leaseMs: LEASE_MS }
    const scene = new Scene(story, turns, tools, order)
    try {
      await work(scene)
    } finally {
      await scene.#end()
      await tools.close()
      await turns.close()
      await database?.drop()
      rmSync(folder, { recursive: true })
    }
  }

  /** The database, or its URL. */
  get at(): string {
    return this.#order.at
  }

  start(): Promise<ChatReader> {
    return this.turns.open(this.story.body, confirmAll)
  }

  /** Starts a child process that drives turns. */
  child(more: Partial<TurnChildOrder> = {}, prefix: readonly string[] = []): Child {
    const child = runChild(new URL('turn-child.ts', import.meta.url), { ...this.#order, ...more }, prefix)
    this.#children.push(child)
    return child
  }

  /** Drives turns in this process from now on. */
  async takeOver(
    outside: OutsideTools = givenTools(outsideTools(this.tools.url)),
    leaseMs = LEASE_MS,
  ): Promise<Worker> {
    const models = await configuredModels({ model: MODEL, url: this.turns.provider.url, key: 'k' })
    const runner = new Worker({ door: this.turns.door, models, outside, leaseMs, retryMs: 1 })
    this.#ends.push(() => runner.close())
    runner.start()
    return runner
  }

  async check(reader: ChatReader): Promise<void> {
    await reader.over
    const log = await this.turns.log()
    expect(faultsIn(this.story, log, this.tools.calls)).toEqual([])
    // A reader from the start got every event once.
    const from = log.findIndex(({ type }) => type === 'turn_started')
    expect(reader.events).toEqual(log.slice(from))
    const statuses = (await this.turns.statuses()).map(([, status]) => status)
    expect(statuses).toEqual(['completed', 'completed'])
  }

  async #end(): Promise<void> {
    for (const child of this.#children) {
      child.process.kill('SIGKILL')
      await child.ended
    }
    for (const end of this.#ends) await end()
  }
}
