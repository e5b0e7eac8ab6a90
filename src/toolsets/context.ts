import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sources } from '../domain/command.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import type { Lease, Runsheet } from '../runsheet.ts'
import type { Judged } from './claims.ts'

/** Where a tool call belongs. The host sets it; nothing of it ever comes from the model. */
export interface ToolContext extends Sources {
  readonly runsheet: Runsheet
  readonly tenant: string
  readonly conversation: string
  readonly turn: string
  /** Makes a repetition of the call harmless; drawn where the host has none. */
  readonly toolCallId?: string | undefined
  /** What a new conversation gets. */
  readonly host?: PolicyPatch | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** For a call from a run of ours: its lease, and the seq of the digest that the step was given. */
  readonly run?: RunContext | undefined
}

export interface RunContext {
  readonly lease: Lease
  readonly basis: number
  /** What the model last said: the outcome where its tools have no place for one. */
  readonly said?: string | undefined
  /** What the assessor said of the claims that this call makes; absent, it has not been asked yet. */
  readonly judged?: readonly Judged[] | undefined
}

const storage = new AsyncLocalStorage<ToolContext>()

/** Everything that `work` calls, however deep, has this context; whatever runs beside or after it has not. */
export const withToolContext = <T>(context: ToolContext, work: () => T): T => storage.run(context, work)

export const currentToolContext = (): ToolContext | undefined => storage.getStore()
