import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sources } from '../domain/command.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import type { Lease, Door } from '../door/door.ts'
import type { Judged } from '../domain/claim.ts'

/** Where a tool call belongs. The host sets it; no part of it comes from the model. */
export interface ToolContext extends Sources {
  readonly door: Door
  readonly tenant: string
  readonly conversation: string
  readonly turn: string
  /** Makes a repetition idempotent; drawn if the host has none. */
  readonly toolCallId?: string | undefined
  /** The policy of new conversations. */
  readonly host?: PolicyPatch | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Set for calls from our own runs. */
  readonly run?: RunContext | undefined
}

export interface RunContext {
  readonly lease: Lease
  /** The seq of the digest that the step was given. */
  readonly basis: number
  /** What the model last said: the outcome where its tools have no place for one. */
  readonly said?: string | undefined
  /** The assessor's rulings on the claims of this call; absent until it was asked. */
  readonly judged?: readonly Judged[] | undefined
}

const storage = new AsyncLocalStorage<ToolContext>()

/** Runs `work` with this context; it does not leak to what runs beside or after it. */
export const withToolContext = <T>(context: ToolContext, work: () => T): T => storage.run(context, work)

export const currentToolContext = (): ToolContext | undefined => storage.getStore()
